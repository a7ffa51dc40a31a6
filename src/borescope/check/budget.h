#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// The budgets of a file, as docs/use/check.md describes it. Plain values.

// A number with its unit, in base units: nanoseconds, bytes, a part of 1.
struct BudgetAmount {
  double value = 0;
  Unit unit = Unit::kNone;  // none: a bare number
};

enum class RowReduce : uint8_t { kMin, kMax, kMean, kP50, kP90, kP99, kSum, kCount };

// A row stays where its cell compares so with the value, or equals one of several.
struct RowCondition {
  enum class Is : uint8_t { kOneOf, kLess, kAtMost, kMore, kAtLeast, kNot };
  std::string column;
  Is is = Is::kOneOf;
  std::vector<std::string> values;  // one, but for kOneOf
};

// Not worse than the runs of the baseline.
struct WorseRule {
  double by = 0.03;  // a part of the baseline
  double confidence = 0.95;
  std::optional<BudgetAmount> min_effect = {};  // none: 1 us of times
  bool less_is_worse = false;
};

struct Budget {
  std::string name;
  uint32_t line = 0;  // where it begins in its file
  // The number: of the column of a table, or the first cell of the result of a statement.
  std::string table, column, over, by;
  RowReduce reduce = RowReduce::kP50;
  std::vector<RowCondition> where;
  std::string sql;
  Unit unit = Unit::kNone;  // of the result of the statement, where that says none
  std::optional<BudgetAmount> min, max;
  std::optional<WorseRule> worse;
};

enum class FailOn : uint8_t { kNever, kWarning, kError };

// What makes every verdict void.
struct QualityRules {
  std::optional<double> max_unlinked_share = {};  // of device work
  FailOn fail_on = FailOn::kNever;
};

struct BudgetFile {
  std::string path;  // as it was named
  std::vector<Budget> budgets;
  QualityRules quality;
};

// "310ms", "1.5GiB", "15%": numbers with units, as budgets have them. Pure.

// Units are ns, us, ms, s; B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB; %; or none.
// Nothing for other text, and for numbers that are negative or not finite.
std::optional<BudgetAmount> ParseAmount(std::string_view text);

// A value in base units as people read it: "310 ms", "15.2 %", "12".
std::string AmountText(double value, Unit unit);

// The number that a budget is about, from a table. Pure.

struct BudgetValue {
  double value = 0;
  Unit unit = Unit::kNone;
  int64_t samples = 0;  // rows that it is of
  // The smallest and the largest of these; nothing of sums, counts and shares.
  std::optional<double> least = {};
  std::optional<double> most = {};
};

// Of the rows that `where` keeps and whose cell is there; quantiles as quantiles.h. Of a table by
// step only rows of a step count: what was launched in none, or before the recording, is no step,
// and how much of it there is differs from run to run by chance. Errors name the
// budget: kInvalidArgument for columns that the table does not have or that hold no numbers,
// kMissingData where no row is left (of a count: 0). REQUIRES: the budget is of a table.
Result<BudgetValue> ValueInTable(const Budget& budget, const Table& table);

// The first cell of the result of its statement, in the unit of its column or else of the budget:
// a whole number is no count, since times are whole numbers, too.
Result<BudgetValue> ValueOfResult(const Budget& budget, const Table& result);

// What the number of a budget is, in one text: equal for budgets whose values can be compared.
std::string DefinitionOf(const Budget& budget);

// Why the limits of a budget cannot be compared with a value of this unit; empty where they can.
std::string FaultOfLimits(const Budget& budget, Unit unit);

// Reads budget.toml. Pure; any thread.

// Whatever the text is, the result is a file of budgets or an error of kInvalidArgument that names
// line and cause. Keys that are not known are errors, since a budget that is misspelt would hold
// nothing. Messages begin with `path`.
Result<BudgetFile> ReadBudgetFile(std::string_view text, const std::string& path);

}  // namespace borescope::internal
