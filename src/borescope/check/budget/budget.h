// The budgets of a file, as docs/use/check.md describes it. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "borescope/table/table.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
