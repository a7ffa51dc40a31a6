// The number that a budget is about, from a table. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "borescope/base/result.h"
#include "borescope/check/budget/budget.h"
#include "borescope/table/table.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
