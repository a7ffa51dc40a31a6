#include "borescope/ingest/cupti/nvtx_text.h"

#include <algorithm>

#include "borescope/json/number.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kOpId = ", op_id = ";
constexpr std::string_view kSizes = ", sizes = ";

int64_t NumberAt(std::string_view text) {
  const ParsedNumber number = ParseInteger(text.substr(0, text.find(',')));
  return number.status == NumberStatus::kOk ? number.value : kMissing;
}

// The list at the start of `text`, its brackets closed; empty when there is none.
std::string_view ListAt(std::string_view text) {
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '[' ? 1 : 0;
    open -= text[i] == ']' ? 1 : 0;
    if (open == 0) {
      return text[i] == ']' ? text.substr(0, i + 1) : std::string_view();
    }
  }
  return {};
}

}  // namespace

std::optional<OperatorText> ParseOperatorText(std::string_view text) {
  const size_t sequence = text.find(kSequence);
  const size_t op_id = text.find(kOpId);
  OperatorText op;
  if (sequence != std::string_view::npos) {
    op.sequence = NumberAt(text.substr(sequence + kSequence.size()));
  }
  if (op_id != std::string_view::npos) {
    op.op_id = NumberAt(text.substr(op_id + kOpId.size()));
  }
  const size_t end = std::min(sequence, op_id);
  if (end == 0 || (op.sequence == kMissing && op.op_id == kMissing)) {
    return std::nullopt;
  }
  op.name = text.substr(0, end);
  const size_t sizes = text.find(kSizes, end);
  if (sizes != std::string_view::npos) {
    op.sizes = ListAt(text.substr(sizes + kSizes.size()));
  }
  return op;
}

uint32_t AddOperator(TracePart& part, const OperatorText& op) {
  Ops& ops = part.data.ops;
  const uint32_t row = AddMissingRow(ops);
  ops.sequence[row] = op.sequence;
  ops.input_dims[row] = part.Intern(op.sizes);
  return row;
}

}  // namespace borescope::internal
