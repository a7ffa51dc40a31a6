// How long the steps of many ranks take, made small enough to be looked at.
#pragma once

#include "borescope/table/table.h"

namespace borescope::internal {

// Table step_heat, of the rows of `steps`: the longest span on the host among some neighbouring
// ranks and steps, and how it relates to the median of the cells. At most 64 x 64 rows; none for
// fewer than kManyRanks ranks (rank_groups.h), or a single step.
Table StepHeat(const Table& steps);

}  // namespace borescope::internal
