#include "borescope/check/budget/budget_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "borescope/base/statistics/quantile.h"
#include "borescope/base/text/nearest.h"
#include "borescope/base/text/text.h"
#include "borescope/check/budget/amount.h"
#include "borescope/table/display/unit_and_role_names.h"

namespace borescope::internal {
namespace {

Error AboutBudget(const Budget& budget, ErrorCode code, std::string_view cause,
                  std::string remedy = {}) {
  return {code, fmt::format("budget '{}': {}", budget.name, cause), std::move(remedy)};
}

Result<const Column*> FindColumn(const Budget& budget, const Table& table,
                                 const std::string& name) {
  if (const Column* const found = table.Find(name)) {
    return found;
  }
  std::vector<std::string_view> names;
  names.reserve(table.columns.size());
  for (const Column& column : table.columns) {
    names.push_back(column.name);
  }
  const std::string_view nearest = Nearest(name, names);
  return AboutBudget(budget, ErrorCode::kInvalidArgument,
                     fmt::format("table {} has no column '{}'", table.name, name),
                     nearest.empty() ? fmt::format("columns are {}", fmt::join(names, ", "))
                                     : fmt::format("did you mean '{}'?", nearest));
}

// A cell as a number; nothing for text and where it is missing.
std::optional<double> NumberAt(const Column& column, size_t row) {
  if (column.IsMissing(row)) {
    return std::nullopt;
  }
  if (const auto* const whole = std::get_if<IntValues>(&column.values)) {
    return static_cast<double>((*whole)[row]);
  }
  const auto* const fractions = std::get_if<FloatValues>(&column.values);
  return fractions == nullptr || !std::isfinite((*fractions)[row])
             ? std::nullopt
             : std::optional((*fractions)[row]);
}

bool Holds(RowCondition::Is is, double cell, double value) {
  switch (is) {
    case RowCondition::Is::kLess:
      return cell < value;
    case RowCondition::Is::kAtMost:
      return cell <= value;
    case RowCondition::Is::kMore:
      return cell > value;
    case RowCondition::Is::kAtLeast:
      return cell >= value;
    case RowCondition::Is::kNot:
      return cell != value;
    case RowCondition::Is::kOneOf:
      break;
  }
  return cell == value;
}

std::string TextAt(const Column& column, size_t row) {
  const auto* const texts = std::get_if<StringValues>(&column.values);
  const auto* const flags = std::get_if<BoolValues>(&column.values);
  return texts != nullptr                         ? (*texts)[row]
         : flags != nullptr && (*flags)[row] != 0 ? "true"
                                                  : "false";
}

// A condition on the cells of its column.
struct BoundCondition {
  const Column* column = nullptr;
  const RowCondition* condition = nullptr;
  std::vector<double> numbers;  // of its values, where the column holds numbers

  bool Keeps(size_t row) const {
    const bool any = condition->is == RowCondition::Is::kOneOf;
    if (column->IsNumber()) {
      const std::optional<double> cell = NumberAt(*column, row);
      return cell.has_value() && std::any_of(numbers.begin(), numbers.end(), [&](double value) {
               return Holds(condition->is, *cell, value);
             });
    }
    const bool is_one =
        !column->IsMissing(row) && std::find(condition->values.begin(), condition->values.end(),
                                             TextAt(*column, row)) != condition->values.end();
    return is_one == any;
  }
};

Result<BoundCondition> Bind(const Budget& budget, const Table& table,
                            const RowCondition& condition) {
  BoundCondition bound{nullptr, &condition, {}};
  BS_ASSIGN(bound.column, FindColumn(budget, table, condition.column));
  const bool is_order =
      condition.is != RowCondition::Is::kOneOf && condition.is != RowCondition::Is::kNot;
  for (const std::string& value : condition.values) {
    const bool is_negative = value.starts_with('-');
    const std::optional<BudgetAmount> number = ParseAmount(value.substr(is_negative ? 1 : 0));
    if (bound.column->IsNumber() ? !number.has_value() : is_order) {
      return AboutBudget(
          budget, ErrorCode::kInvalidArgument,
          fmt::format("where.{}: '{}' cannot be compared with cells of {}", condition.column, value,
                      bound.column->IsNumber() ? "numbers" : "text"));
    }
    bound.numbers.push_back(number.has_value() ? (is_negative ? -1 : 1) * number->value : 0);
  }
  return bound;
}

Result<std::vector<uint32_t>> RowsThatStay(const Budget& budget, const Table& table) {
  std::vector<BoundCondition> conditions;
  for (const RowCondition& condition : budget.where) {
    BS_ASSIGN(BoundCondition bound, Bind(budget, table, condition));
    conditions.push_back(std::move(bound));
  }
  // Rows of work in no step are not more steps.
  const bool is_by_step = table.name == "steps" || budget.by == "step";
  const Column* const step = is_by_step ? table.Find("step") : nullptr;
  std::vector<uint32_t> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    const bool is_of_step = step == nullptr || !step->IsMissing(row);
    if (is_of_step && std::all_of(conditions.begin(), conditions.end(),
                                  [&](const BoundCondition& one) { return one.Keeps(row); })) {
      rows.push_back(static_cast<uint32_t>(row));
    }
  }
  return rows;
}

double SumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double Reduced(RowReduce reduce, std::vector<double> values) {
  switch (reduce) {
    case RowReduce::kMin:
      return *std::min_element(values.begin(), values.end());
    case RowReduce::kMax:
      return *std::max_element(values.begin(), values.end());
    case RowReduce::kMean:
      return SumOf(values) / static_cast<double>(values.size());
    case RowReduce::kP50:
      return QuantileOf(std::span(values), 0.5);
    case RowReduce::kP90:
      return QuantileOf(std::span(values), 0.9);
    case RowReduce::kP99:
      return QuantileOf(std::span(values), 0.99);
    case RowReduce::kSum:
      return SumOf(values);
    case RowReduce::kCount:
      break;
  }
  return static_cast<double>(values.size());
}

// The numbers of a column in some rows.
Result<std::vector<double>> NumbersOf(const Budget& budget, const Table& table,
                                      const std::string& name, const std::vector<uint32_t>& rows) {
  BS_ASSIGN(const Column* const column, FindColumn(budget, table, name));
  if (!column->IsNumber()) {
    return AboutBudget(budget, ErrorCode::kInvalidArgument,
                       fmt::format("column '{}' of table {} holds no numbers", name, table.name));
  }
  std::vector<double> numbers;
  for (const uint32_t row : rows) {
    if (const std::optional<double> number = NumberAt(*column, row)) {
      numbers.push_back(*number);
    }
  }
  return numbers;
}

Result<BudgetValue> ShareOver(const Budget& budget, const Table& table,
                              const std::vector<double>& parts, const std::vector<uint32_t>& rows) {
  BS_ASSIGN(const std::vector<double> wholes, NumbersOf(budget, table, budget.over, rows));
  const double whole = SumOf(wholes);
  if (whole <= 0) {
    return AboutBudget(
        budget, ErrorCode::kMissingData,
        fmt::format("the sum of {} is 0, so that there is no share of it", budget.over));
  }
  return BudgetValue{SumOf(parts) / whole, Unit::kShare, static_cast<int64_t>(parts.size())};
}

}  // namespace

Result<BudgetValue> ValueInTable(const Budget& budget, const Table& table) {
  BS_ASSIGN(const std::vector<uint32_t> rows, RowsThatStay(budget, table));
  if (budget.reduce == RowReduce::kCount && budget.column.empty()) {
    return BudgetValue{static_cast<double>(rows.size()), Unit::kCount,
                       static_cast<int64_t>(rows.size())};
  }
  BS_ASSIGN(const std::vector<double> numbers, NumbersOf(budget, table, budget.column, rows));
  if (numbers.empty() && budget.reduce != RowReduce::kCount) {
    return AboutBudget(budget, ErrorCode::kMissingData,
                       fmt::format("no row of table {} is left by 'where'{}", table.name,
                                   table.name == "steps" ? ", of those that are steps" : ""));
  }
  if (!budget.over.empty()) {
    return ShareOver(budget, table, numbers, rows);
  }
  const Unit unit =
      budget.reduce == RowReduce::kCount ? Unit::kCount : table.Find(budget.column)->unit;
  BudgetValue value{Reduced(budget.reduce, numbers), unit, static_cast<int64_t>(numbers.size())};
  if (budget.reduce != RowReduce::kCount && budget.reduce != RowReduce::kSum) {
    value.least = Reduced(RowReduce::kMin, numbers);
    value.most = Reduced(RowReduce::kMax, numbers);
  }
  return value;
}

Result<BudgetValue> ValueOfResult(const Budget& budget, const Table& result) {
  const std::optional<double> number =
      result.rows() == 0 ? std::nullopt : NumberAt(result.columns.front(), 0);
  if (!number.has_value()) {
    return AboutBudget(budget, ErrorCode::kMissingData, "its statement gives no number");
  }
  const Column& column = result.columns.front();
  return BudgetValue{*number, column.unit == Unit::kNone ? budget.unit : column.unit,
                     static_cast<int64_t>(result.rows())};
}

std::string DefinitionOf(const Budget& budget) {
  if (!budget.sql.empty()) {
    return fmt::format("sql {}", budget.sql);
  }
  constexpr std::string_view kReduces[] = {"min", "max", "mean", "p50",
                                           "p90", "p99", "sum",  "count"};
  constexpr std::string_view kSigns[] = {"=", "<", "<=", ">", ">=", "!="};
  std::string text = fmt::format("{} of {}.{}", kReduces[static_cast<size_t>(budget.reduce)],
                                 budget.table, budget.column);
  if (!budget.over.empty()) {
    text += " over " + budget.over;
  }
  if (!budget.by.empty()) {
    text += " by " + budget.by;
  }
  for (size_t i = 0; i < budget.where.size(); ++i) {
    const RowCondition& condition = budget.where[i];
    text +=
        fmt::format("{}{} {} {}", i == 0 ? " where " : " and ", condition.column,
                    kSigns[static_cast<size_t>(condition.is)], fmt::join(condition.values, ", "));
  }
  return text;
}

std::string FaultOfLimits(const Budget& budget, Unit unit) {
  const bool is_scaled = unit == Unit::kNanoseconds || unit == Unit::kBytes || unit == Unit::kShare;
  std::vector<std::optional<BudgetAmount>> limits = {budget.min, budget.max};
  if (budget.worse.has_value()) {
    limits.push_back(budget.worse->min_effect);
  }
  for (const std::optional<BudgetAmount>& limit : limits) {
    if (limit.has_value() && unit == Unit::kShare && limit->unit == Unit::kNone &&
        limit->value > 1) {
      return fmt::format(
          "budget '{}': its value is a share, and {} is more than all of it; write "
          "{}%",
          budget.name, limit->value, limit->value);
    }
    // A bare number is in the base unit, but of time, where nobody would guess it.
    const bool fits = !limit.has_value() || limit->unit == unit ||
                      (limit->unit == Unit::kNone && unit != Unit::kNanoseconds);
    const bool is_free = limit.has_value() && !is_scaled && !budget.sql.empty();
    if (!fits && !is_free) {
      return fmt::format("budget '{}': its value is in {}, its limit is not", budget.name,
                         is_scaled ? UnitName(unit) : "no unit");
    }
  }
  return "";
}

}  // namespace borescope::internal
