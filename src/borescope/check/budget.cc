#include "borescope/check/budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "borescope/base/statistics/statistics.h"
#include "borescope/base/text/text.h"
#include "borescope/check/toml.h"
#include "borescope/table/display/view.h"

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

// The value in the largest unit in which it is at least 1.
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

double RestOf(int64_t whole) {
  const auto rounded = static_cast<double>(whole);
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63, to which the largest ones are rounded
  return rounded >= kBeyond ? -static_cast<double>(std::numeric_limits<int64_t>::max() - whole) - 1
                            : static_cast<double>(whole - static_cast<int64_t>(rounded));
}

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
      const std::optional<int64_t> whole = ParseNumber<int64_t>(text.substr(0, end));
      return BudgetAmount{*number * row.factor, row.unit,
                          whole.has_value() && row.factor == 1 ? RestOf(*whole) : 0};
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

// A cell as a number; nullopt for text and missing cells.
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
  std::vector<double> numbers;  // its values as numbers, if the column has numbers

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
  if (std::abs(value.value) >= kFirstRounded) {
    value.rest.reset();
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
  BudgetValue value{*number, column.unit == Unit::kNone ? budget.unit : column.unit,
                    static_cast<int64_t>(result.rows())};
  if (const auto* const whole = std::get_if<IntValues>(&column.values)) {
    value.rest = RestOf(whole->front());
  }
  return value;
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
    // A number without unit is in the base unit, except for times, where nobody would guess that.
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

namespace {

using Keys = std::span<const std::string_view>;

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr std::string_view kFileKeys[] = {"schema", "budget", "quality"};
constexpr std::string_view kBudgetKeys[] = {"name",
                                            "table",
                                            "column",
                                            "reduce",
                                            "where",
                                            "over",
                                            "by",
                                            "sql",
                                            "max",
                                            "min",
                                            "worse_than_baseline",
                                            "unit"};
constexpr std::string_view kWorseKeys[] = {"by", "confidence", "min_effect", "worse"};
constexpr std::string_view kQualityKeys[] = {"max_unlinked_share", "fail_on"};
constexpr std::string_view kReduceNames[] = {"min", "max", "mean", "p50",
                                             "p90", "p99", "sum",  "count"};
constexpr std::string_view kFailNames[] = {"never", "warning", "error"};

// Reads one file, and remembers where it is.
class BudgetReader {
 public:
  explicit BudgetReader(const std::string& path) : path_(path) {}

  Error At(const TomlValue& node, std::string cause, std::string remedy = {}) const {
    return {.code = ErrorCode::kInvalidArgument,
            .cause = std::move(cause),
            .remedy = std::move(remedy),
            .file = path_,
            .line = node.line};
  }
  // REQUIRES, here and below: `table` is a table.
  static const TomlValue* Find(const TomlValue& table, std::string_view key) {
    return FindKey(*table.As<TomlTable>(), key);
  }

  Result<void> CheckKeys(const TomlValue& table, std::string_view what, Keys known) const {
    for (const auto& [key, value] : *table.As<TomlTable>()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        const std::string_view nearest = Nearest(key, known);
        return At(value, fmt::format("{} has no key '{}'", what, key),
                  nearest.empty() ? fmt::format("keys are {}", fmt::join(known, ", "))
                                  : fmt::format("did you mean '{}'?", nearest));
      }
    }
    return {};
  }

  // A text; empty if the key is missing.
  Result<std::string> Text(const TomlValue& table, std::string_view key) const {
    const TomlValue* const node = Find(table, key);
    if (node == nullptr) {
      return std::string();
    }
    const auto* const text = node->As<std::string>();
    if (text == nullptr || text->empty()) {
      return At(*node, fmt::format("'{}' takes a text that is not empty", key));
    }
    return *text;
  }

  // The number of one of several words; nullopt if the key is missing.
  Result<std::optional<size_t>> Word(const TomlValue& table, std::string_view key,
                                     Keys words) const {
    BS_ASSIGN(const std::string text, Text(table, key));
    if (text.empty()) {
      return std::optional<size_t>();
    }
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) {
      return At(*Find(table, key),
                fmt::format("'{}' takes {}, not '{}'", key, fmt::join(words, ", "), text));
    }
    return std::optional<size_t>(static_cast<size_t>(found - words.begin()));
  }

  // A number, or a text with a unit.
  Result<std::optional<BudgetAmount>> Amount(const TomlValue& table, std::string_view key) const {
    const TomlValue* const node = Find(table, key);
    if (node == nullptr) {
      return std::optional<BudgetAmount>();
    }
    std::optional<BudgetAmount> amount;
    if (const auto* const text = node->As<std::string>()) {
      amount = ParseAmount(*text);
    } else if (const auto* const whole = node->As<int64_t>(); whole != nullptr && *whole >= 0) {
      amount = BudgetAmount{static_cast<double>(*whole), Unit::kNone, RestOf(*whole)};
    } else if (const auto* const number = node->As<double>(); number != nullptr && *number >= 0) {
      amount = BudgetAmount{*number};
    }
    if (!amount.has_value()) {
      return At(*node, fmt::format("'{}' takes a number with a unit, such as \"310ms\", \"2GiB\", "
                                   "\"15%\" or 12, and no negative one",
                                   key));
    }
    return amount;
  }

  // A part of 1, as "3%" or 0.03.
  Result<std::optional<double>> Share(const TomlValue& table, std::string_view key) const {
    BS_ASSIGN(const std::optional<BudgetAmount> amount, Amount(table, key));
    if (!amount.has_value()) {
      return std::optional<double>();
    }
    const bool is_share = amount->unit == Unit::kShare || amount->unit == Unit::kNone;
    if (!is_share || amount->value > 1) {
      return At(*Find(table, key), fmt::format("'{}' takes a share, such as \"3%\" or 0.03", key));
    }
    return std::optional<double>(amount->value);
  }

  // The table at a key; nullptr if the key is missing.
  Result<const TomlValue*> Inner(const TomlValue& table, std::string_view key) const {
    const TomlValue* const node = Find(table, key);
    if (node != nullptr && node->As<TomlTable>() == nullptr) {
      return At(*node, fmt::format("'{}' takes a table: {} = {{...}}", key, key));
    }
    return node;
  }

 private:
  const std::string& path_;
};

// ">=3": the comparison, then the value.
RowCondition ComparisonOf(std::string_view column, std::string_view text) {
  using Is = RowCondition::Is;
  constexpr std::pair<std::string_view, Is> kSigns[] = {{">=", Is::kAtLeast}, {"<=", Is::kAtMost},
                                                        {"!=", Is::kNot},     {">", Is::kMore},
                                                        {"<", Is::kLess},     {"==", Is::kOneOf}};
  for (const auto& [sign, is] : kSigns) {
    if (text.starts_with(sign)) {
      return {std::string(column), is, {std::string(Trimmed(text.substr(sign.size())))}};
    }
  }
  return {std::string(column), Is::kOneOf, {std::string(text)}};
}

// A value as cells of tables are written; nullopt for values that are no cells.
std::optional<std::string> CellText(const TomlValue& node) {
  if (const auto* const text = node.As<std::string>()) {
    return *text;
  }
  if (const auto* const number = node.As<int64_t>()) {
    return fmt::format("{}", *number);
  }
  if (const auto* const flag = node.As<bool>()) {
    return *flag ? "true" : "false";
  }
  return std::nullopt;
}

Result<RowCondition> ReadCondition(const BudgetReader& reader, const std::string& column,
                                   const TomlValue& node) {
  RowCondition condition{column, RowCondition::Is::kOneOf, {}};
  if (const std::optional<std::string> single = CellText(node)) {
    return node.As<std::string>() != nullptr ? ComparisonOf(column, *single)
                                             : RowCondition{column, condition.is, {*single}};
  }
  const TomlArray none;
  const auto* const list = node.As<TomlArray>();
  for (const TomlValue& item : list == nullptr ? none : *list) {
    const std::optional<std::string> text = CellText(item);
    if (!text.has_value()) {
      return reader.At(item, "a list of 'where' holds texts and whole numbers");
    }
    condition.values.push_back(*text);
  }
  if (condition.values.empty()) {
    return reader.At(node, fmt::format("where.{} takes a value, a comparison such as \">=3\", or a "
                                       "list of values",
                                       column));
  }
  return condition;
}

Result<std::optional<WorseRule>> ReadWorse(const BudgetReader& reader, const TomlValue& table) {
  BS_ASSIGN(const TomlValue* const inner, reader.Inner(table, "worse_than_baseline"));
  if (inner == nullptr) {
    return std::optional<WorseRule>();
  }
  BS_TRY(reader.CheckKeys(*inner, "worse_than_baseline", kWorseKeys));
  WorseRule rule;
  BS_ASSIGN(const std::optional<double> by, reader.Share(*inner, "by"));
  BS_ASSIGN(const std::optional<double> confidence, reader.Share(*inner, "confidence"));
  BS_ASSIGN(rule.min_effect, reader.Amount(*inner, "min_effect"));
  constexpr std::string_view kDirections[] = {"more", "less"};
  BS_ASSIGN(const std::optional<size_t> worse, reader.Word(*inner, "worse", kDirections));
  rule.by = by.value_or(rule.by);
  rule.confidence = confidence.value_or(rule.confidence);
  rule.less_is_worse = worse == size_t{1};
  if (rule.confidence < 0.5 || rule.confidence > 0.9999) {
    return reader.At(*BudgetReader::Find(*inner, "confidence"),
                     "'confidence' must be between 0.5 and 0.9999");
  }
  return std::optional(rule);
}

Result<void> ReadWhere(const BudgetReader& reader, const TomlValue& table, Budget& budget) {
  BS_ASSIGN(const TomlValue* const where, reader.Inner(table, "where"));
  if (where == nullptr) {
    return {};
  }
  for (const auto& [column, value] : *where->As<TomlTable>()) {
    BS_ASSIGN(RowCondition condition, ReadCondition(reader, column, value));
    budget.where.push_back(std::move(condition));
  }
  return {};
}

// What is missing from a budget, or does not fit together; empty if nothing.
std::string FaultOfBudget(const Budget& budget, bool has_reduce) {
  const bool of_table = !budget.table.empty();
  if (budget.name.empty()) {
    return "a budget needs a name";
  }
  if (of_table == !budget.sql.empty()) {
    return "a budget needs either a table, with its column, or sql";
  }
  if (!of_table && (has_reduce || !budget.where.empty() || !budget.over.empty() ||
                    !budget.column.empty() || !budget.by.empty())) {
    return "column, reduce, where, over and by belong to a table; write them into the sql";
  }
  if (of_table && budget.unit != Unit::kNone) {
    return "unit belongs to sql; a column of a table has its own";
  }
  if (of_table && budget.column.empty() && budget.reduce != RowReduce::kCount) {
    return "a budget of a table needs its column, or reduce = \"count\"";
  }
  if (!budget.min.has_value() && !budget.max.has_value() && !budget.worse.has_value()) {
    return "a budget needs max, min or worse_than_baseline";
  }
  if (!budget.over.empty() && budget.reduce != RowReduce::kSum) {
    return "over divides sums: it needs reduce = \"sum\"";
  }
  return "";
}

Result<Budget> ReadOneBudget(const BudgetReader& reader, const TomlValue& table) {
  BS_TRY(reader.CheckKeys(table, "a budget", kBudgetKeys));
  Budget budget;
  budget.line = table.line;
  constexpr std::pair<std::string_view, std::string Budget::*> kTexts[] = {
      {"name", &Budget::name}, {"table", &Budget::table}, {"column", &Budget::column},
      {"over", &Budget::over}, {"by", &Budget::by},       {"sql", &Budget::sql}};
  for (const auto& [key, member] : kTexts) {
    BS_ASSIGN(budget.*member, reader.Text(table, key));
  }
  BS_ASSIGN(const std::optional<size_t> reduce, reader.Word(table, "reduce", kReduceNames));
  budget.reduce = static_cast<RowReduce>(reduce.value_or(static_cast<size_t>(RowReduce::kP50)));
  constexpr std::string_view kUnitWords[] = {"count", "ns", "bytes", "share"};
  constexpr Unit kWordUnits[] = {Unit::kCount, Unit::kNanoseconds, Unit::kBytes, Unit::kShare};
  BS_ASSIGN(const std::optional<size_t> unit, reader.Word(table, "unit", kUnitWords));
  budget.unit = unit.has_value() ? kWordUnits[*unit] : Unit::kNone;
  BS_TRY(ReadWhere(reader, table, budget));
  BS_ASSIGN(budget.min, reader.Amount(table, "min"));
  BS_ASSIGN(budget.max, reader.Amount(table, "max"));
  BS_ASSIGN(budget.worse, ReadWorse(reader, table));
  const std::string fault = FaultOfBudget(budget, reduce.has_value());
  return fault.empty() ? Result<Budget>(std::move(budget)) : reader.At(table, fault);
}

Result<QualityRules> ReadQuality(const BudgetReader& reader, const TomlValue& file) {
  QualityRules rules;
  BS_ASSIGN(const TomlValue* const table, reader.Inner(file, "quality"));
  if (table == nullptr) {
    return rules;
  }
  BS_TRY(reader.CheckKeys(*table, "[quality]", kQualityKeys));
  BS_ASSIGN(rules.max_unlinked_share, reader.Share(*table, "max_unlinked_share"));
  BS_ASSIGN(const std::optional<size_t> fail_on, reader.Word(*table, "fail_on", kFailNames));
  rules.fail_on = static_cast<FailOn>(fail_on.value_or(static_cast<size_t>(FailOn::kNever)));
  return rules;
}

Result<void> ReadBudgets(const BudgetReader& reader, const TomlValue& table, BudgetFile& file) {
  constexpr const char* kForm = "budgets are written as [[budget]], with two brackets";
  const TomlValue* const node = BudgetReader::Find(table, "budget");
  if (node == nullptr) {
    return {};
  }
  const auto* const list = node->As<TomlArray>();
  if (list == nullptr) {
    return reader.At(*node, kForm);
  }
  for (const TomlValue& one : *list) {
    if (one.As<TomlTable>() == nullptr) {
      return reader.At(one, kForm);
    }
    BS_ASSIGN(Budget budget, ReadOneBudget(reader, one));
    const bool is_twice =
        std::any_of(file.budgets.begin(), file.budgets.end(),
                    [&](const Budget& other) { return other.name == budget.name; });
    if (is_twice) {
      return reader.At(one, fmt::format("there are two budgets of the name '{}'", budget.name));
    }
    file.budgets.push_back(std::move(budget));
  }
  return {};
}

}  // namespace

Result<BudgetFile> ReadBudgetFile(std::string_view text, const std::string& path) {
  if (text.size() > kMostBytes) {
    return Error{ErrorCode::kInvalidArgument, "a budget file has at most 1 MiB", "is it one?",
                 path};
  }
  Result<TomlTable> parsed = ParseToml(text);
  if (!parsed.ok()) {
    return InFile(path, parsed.error());
  }
  const TomlValue table{std::move(*parsed), 1};
  const BudgetReader reader(path);
  BS_TRY(reader.CheckKeys(table, "a budget file", kFileKeys));
  if (const TomlValue* const schema = BudgetReader::Find(table, "schema")) {
    const auto* const number = schema->As<int64_t>();
    if (number == nullptr || *number != 1) {
      return reader.At(*schema, "this version reads schema = 1");
    }
  }
  BudgetFile file{path, {}, {}};
  BS_ASSIGN(file.quality, ReadQuality(reader, table));
  BS_TRY(ReadBudgets(reader, table, file));
  const bool asks_quality =
      file.quality.fail_on != FailOn::kNever || file.quality.max_unlinked_share.has_value();
  if (file.budgets.empty() && !asks_quality) {
    return Error{ErrorCode::kInvalidArgument, "there is no [[budget]] in it", {}, path};
  }
  return file;
}

}  // namespace borescope::internal
