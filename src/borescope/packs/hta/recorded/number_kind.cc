#include "borescope/packs/hta/recorded/number_kind.h"

#include <limits>

#include "borescope/json/number.h"

namespace borescope::internal {
namespace {

LooseNumber ReadFloat(std::string_view value) {
  const ParsedDouble parsed = ParseDouble(value);
  return parsed.status == NumberStatus::kOk ? LooseNumber{LooseType::kFloat, 0, parsed.value}
                                            : LooseNumber{LooseType::kOther, 0, 0};
}

}  // namespace

LooseNumber ReadLooseNumber(std::string_view value) {
  if (value.empty() || value == "null") {
    return {};
  }
  if (value == "NaN") {
    return {LooseType::kFloat, 0, std::numeric_limits<double>::quiet_NaN()};
  }
  const char first = value.front();
  if (first != '-' && (first < '0' || first > '9')) {
    return {LooseType::kOther, 0, 0};
  }
  if (value.find_first_of(".eE") != std::string_view::npos) {
    return ReadFloat(value);
  }
  const ParsedNumber parsed = ParseInteger(value);
  return parsed.status == NumberStatus::kOk
             ? LooseNumber{LooseType::kInt, parsed.value, static_cast<double>(parsed.value)}
             : LooseNumber{LooseType::kOther, 0, 0};
}

std::string_view NumberKind::name() const {
  const bool has_float = Has(LooseType::kFloat);
  const bool has_number = has_float || Has(LooseType::kInt);
  if (Has(LooseType::kOther) || !has_number) {
    return "object";
  }
  return has_float || Has(LooseType::kNull) ? "float" : "int";
}

}  // namespace borescope::internal
