#include "borescope/check/budget/amount.h"

#include <fmt/format.h>

#include <cmath>

#include "borescope/base/text/text.h"
#include "borescope/table/display/unit_and_role_names.h"

namespace borescope::internal {
namespace {

struct UnitRow {
  std::string_view name;
  double factor;
  Unit unit;
};

constexpr UnitRow kUnits[] = {{"", 1, Unit::kNone},
                              {"%", 0.01, Unit::kShare},
                              {"ns", 1, Unit::kNanoseconds},
                              {"us", 1e3, Unit::kNanoseconds},
                              {"ms", 1e6, Unit::kNanoseconds},
                              {"s", 1e9, Unit::kNanoseconds},
                              {"B", 1, Unit::kBytes},
                              {"KB", 1e3, Unit::kBytes},
                              {"MB", 1e6, Unit::kBytes},
                              {"GB", 1e9, Unit::kBytes},
                              {"TB", 1e12, Unit::kBytes},
                              {"KiB", 1024, Unit::kBytes},
                              {"MiB", 1048576, Unit::kBytes},
                              {"GiB", 1073741824, Unit::kBytes},
                              {"TiB", 1099511627776, Unit::kBytes}};

// The largest unit in which the value is at least 1.
std::string InUnits(double value,
                    std::initializer_list<std::pair<double, std::string_view>> units) {
  for (const auto& [factor, name] : units) {
    if (std::abs(value) >= factor) {
      return fmt::format("{:.4g} {}", value / factor, name);
    }
  }
  return fmt::format("{:.4g} {}", value, (units.end() - 1)->second);
}

}  // namespace

std::optional<BudgetAmount> ParseAmount(std::string_view text) {
  text = Trimmed(text);
  size_t end = 0;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '.')) {
    ++end;
  }
  const std::optional<double> number = ParseNumber<double>(text.substr(0, end));
  const std::string_view unit = Trimmed(text.substr(end));
  for (const UnitRow& row : kUnits) {
    if (number.has_value() && std::isfinite(*number) && unit == row.name) {
      return BudgetAmount{*number * row.factor, row.unit};
    }
  }
  return std::nullopt;
}

std::string AmountText(double value, Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return InUnits(value, {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}});
    case Unit::kBytes:
      return InUnits(value, {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}});
    case Unit::kShare:
      return fmt::format("{:.4g} %", 100 * value);
    case Unit::kNone:
    case Unit::kCount:
    case Unit::kOfRow:
      return fmt::format("{:.6g}", value);
    default:
      return fmt::format("{:.6g} {}", value, UnitName(unit));
  }
}

}  // namespace borescope::internal
