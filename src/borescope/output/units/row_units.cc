#include "borescope/output/units/row_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "borescope/output/units/units.h"
#include "borescope/table/compare.h"
#include "borescope/table/display/unit_and_role_names.h"

namespace borescope::internal {
namespace {

Unit UnitOfName(std::string_view name) {
  constexpr Unit kNamed[] = {Unit::kShare, Unit::kCount, Unit::kNanoseconds, Unit::kBytes};
  const auto* const found = std::find_if(std::begin(kNamed), std::end(kNamed),
                                         [&](Unit unit) { return UnitName(unit) == name; });
  return found == std::end(kNamed) ? Unit::kNone : *found;
}

std::string InUnit(double value, std::string_view name) {
  const Unit unit = UnitOfName(name);
  const NumberRange range{std::abs(value), unit == Unit::kCount && value == std::trunc(value)};
  const NumberFormat format = ChooseFormat(unit, range, Precision::kCompact);
  const std::string_view shown = unit != Unit::kNone ? format.unit : name == "ratio" ? "x" : name;
  return FormatValue(value, format) + (shown.empty() ? "" : fmt::format(" {}", shown));
}

bool IsOfRow(const Column& column) {
  return column.unit == Unit::kOfRow && std::holds_alternative<FloatValues>(column.values);
}

// Units of the other run would be those of other rows.
bool ComparesRuns(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const Column& column) { return column.name.starts_with(kAgainstPrefix); });
}

Column InWords(const Column& column, const StringValues& units) {
  const FloatValues& values = std::get<FloatValues>(column.values);
  Column texts{column.name, Unit::kNone, column.role, column.doc, StringValues(), {}};
  for (size_t row = 0; row < values.size(); ++row) {
    if (column.IsMissing(row) || !std::isfinite(values[row])) {
      PushMissing(texts);
    } else {
      Push(texts, std::string_view(InUnit(values[row], units[row])));
    }
  }
  return texts;
}

}  // namespace

Table WithRowUnits(Table table) {
  const Column* const unit = table.Find("unit");
  const auto* const units = unit == nullptr ? nullptr : std::get_if<StringValues>(&unit->values);
  if (units == nullptr || ComparesRuns(table) ||
      std::none_of(table.columns.begin(), table.columns.end(), IsOfRow)) {
    return table;
  }
  for (Column& column : table.columns) {
    if (IsOfRow(column)) {
      column = InWords(column, *units);
    }
  }
  table.columns.erase(table.columns.begin() + (unit - table.columns.data()));
  return table;
}

}  // namespace borescope::internal
