#include "borescope/ingest/recording/operator_inputs.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "borescope/json/json_cursor.h"

namespace borescope::internal {
namespace {

struct InputMember {
  std::string_view key;
  ColumnData<StringId> Ops::* column;
};
constexpr InputMember kInputMembers[] = {
    {"Input Dims", &Ops::input_dims},
    {"Input type", &Ops::input_types},
    {"Input Strides", &Ops::input_strides},
    {"Concrete Inputs", &Ops::concrete_inputs},
};

}  // namespace

void AddOperatorInputs(RecordingTrace& trace, std::string_view json, uint32_t row) {
  if (json.empty()) {
    return;
  }
  JsonCursor cursor(json);
  std::string_view key;
  bool is_good = cursor.EnterObject();
  while (is_good && cursor.NextMember(key)) {
    const std::string_view value = cursor.Value();
    const auto* const member =
        std::find_if(std::begin(kInputMembers), std::end(kInputMembers),
                     [key](const InputMember& known) { return known.key == key; });
    if (member != std::end(kInputMembers) && value.starts_with('[')) {
      (trace.data().ops.*member->column)[row] = trace.Intern(value);
    }
  }
  is_good &= !cursor.failed();
  if (!is_good) {
    trace.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte,
                              "the inputs of an operator");
  }
}

}  // namespace borescope::internal
