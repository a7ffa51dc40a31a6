#include "borescope/output/units/row_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "borescope/output/units/units.h"

namespace borescope::internal {
namespace {

std::string InUnit(double value, std::string_view name) {
  const Unit unit = name == "share" ? Unit::kShare : name == "count" ? Unit::kCount : Unit::kNone;
  const NumberRange range{std::abs(value), unit == Unit::kCount && value == std::trunc(value)};
  const NumberFormat format = ChooseFormat(unit, range, Precision::kCompact);
  const std::string_view shown = unit != Unit::kNone ? format.unit : name == "ratio" ? "x" : name;
  return FormatValue(value, format) + (shown.empty() ? "" : fmt::format(" {}", shown));
}

}  // namespace

Table WithRowUnits(Table table) {
  const auto is_value = [](const Column& one) { return one.unit == Unit::kOfRow; };
  const auto value = std::find_if(table.columns.begin(), table.columns.end(), is_value);
  const Column* const unit = table.Find("unit");
  if (unit == nullptr || std::count_if(table.columns.begin(), table.columns.end(), is_value) != 1) {
    return table;
  }
  const auto* const values = std::get_if<FloatValues>(&value->values);
  const auto* const units = std::get_if<StringValues>(&unit->values);
  if (values == nullptr || units == nullptr) {
    return table;
  }
  Column texts{value->name, Unit::kNone, value->role, value->doc, StringValues(), {}};
  for (size_t row = 0; row < values->size(); ++row) {
    if (value->IsMissing(row) || !std::isfinite((*values)[row])) {
      PushMissing(texts);
    } else {
      Push(texts, std::string_view(InUnit((*values)[row], (*units)[row])));
    }
  }
  *value = std::move(texts);
  table.columns.erase(table.columns.begin() + (unit - table.columns.data()));
  return table;
}

}  // namespace borescope::internal
