// Budgets: the file that states them (docs/use/check.md), and the numbers in tables that they
// limit. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// A number in base units (nanoseconds, bytes, a part of 1), with the kind of its unit.
struct BudgetAmount {
  double value = 0;
  Unit unit = Unit::kNone;  // kNone: a number without unit
  double rest = 0;  // of a whole number too large for `value` (from 2^53 on): what it is more
};

enum class RowReduce : uint8_t { kMin, kMax, kMean, kP50, kP90, kP99, kSum, kCount };

// Keeps rows whose cell compares so with the value, or equals one of several values.
struct RowCondition {
  enum class Is : uint8_t { kOneOf, kLess, kAtMost, kMore, kAtLeast, kNot };
  std::string column;
  Is is = Is::kOneOf;
  std::vector<std::string> values;  // one, except for kOneOf
};

// Not worse than the runs of the baseline.
struct WorseRule {
  double by = 0.03;  // relative to the baseline
  double confidence = 0.95;
  std::optional<BudgetAmount> min_effect = {};  // nullopt: 1 us for times
  bool less_is_worse = false;
};

struct Budget {
  std::string name;
  uint32_t line = 0;  // where it begins in the file
  // The number that is limited: of the column of a table, or the first cell of the result of a
  // statement.
  std::string table, column, over, by;
  RowReduce reduce = RowReduce::kP50;
  std::vector<RowCondition> where;
  std::string sql;
  Unit unit = Unit::kNone;  // of the result of the statement, if that has none
  std::optional<BudgetAmount> min, max;
  std::optional<WorseRule> worse;
};

enum class FailOn : uint8_t { kNever, kWarning, kError };

// Conditions without which no verdict is valid.
struct QualityRules {
  std::optional<double> max_unlinked_share =
      {};  // the most work without a launch, as a share of device work
  FailOn fail_on = FailOn::kNever;
};

struct BudgetFile {
  std::string path;  // as given by the user
  std::vector<Budget> budgets;
  QualityRules quality;
};

// Reads a number with unit: "310ms", "1.5GiB", "15%". Units are ns, us, ms, s; B, KB, MB, GB, TB
// (powers of 1000), KiB, MiB, GiB, TiB; %; or none. nullopt for other text, and for numbers that
// are negative or not finite.
std::optional<BudgetAmount> ParseAmount(std::string_view text);

// A value in base units as a text for people: "310 ms", "15.2 %", "12".
std::string AmountText(double value, Unit unit);

struct BudgetValue {
  double value = 0;
  Unit unit = Unit::kNone;
  int64_t samples = 0;  // how many rows it comes from
  // The smallest and the largest of these rows; nullopt for sums, counts and shares.
  std::optional<double> least = {};
  std::optional<double> most = {};
  // As of BudgetAmount; nullopt where it is not known.
  std::optional<double> rest = 0.0;
};

// From here on several whole numbers have the same double.
inline constexpr double kFirstRounded = 9007199254740992.0;  // 2^53
// What a whole number is more than the double next to it.
double RestOf(int64_t whole);

// The number from the rows that `where` keeps and whose cell is not missing; quantiles as in
// duration_stats.h. In a table by step only rows of steps count: work launched in no step, or
// before the recording, is not a step, and how much of it there is varies by chance. Errors name
// the budget: kInvalidArgument for columns that the table does not have or that have no numbers,
// kMissingData if no row is left (for a count the value is then 0). REQUIRES: the budget is about a
// table.
Result<BudgetValue> ValueInTable(const Budget& budget, const Table& table);

// The first cell of the result of the budget's statement, in the unit of its column or else of the
// budget. A whole number is not taken as a count, as times are whole numbers too.
Result<BudgetValue> ValueOfResult(const Budget& budget, const Table& result);

// A text that defines the number of a budget: equal for budgets whose values can be compared.
std::string DefinitionOf(const Budget& budget);

// Why the limits of a budget cannot be compared with a value of this unit; empty if they can.
std::string FaultOfLimits(const Budget& budget, Unit unit);

// Reads budget.toml. The result for any text is a file of budgets, or kInvalidArgument with line
// and cause. Unknown keys are errors, since a misspelt budget would limit nothing. Messages begin
// with `path`.
Result<BudgetFile> ReadBudgetFile(std::string_view text, const std::string& path);

}  // namespace borescope::internal
