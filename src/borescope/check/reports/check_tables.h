// The tables of the verb check. Pure.
#pragma once

#include <vector>

#include "borescope/check/compare/judge.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// `check` (the result), `check_runs`, `checks` (a row for each limit of a budget) and `gate` (a row
// for each metric of the comparison) and `gate_calls` (how much work a step has); empty tables are
// left out. With no outcome, as for a schema: all of them.
std::vector<Table> CheckTables(const JudgedRuns& runs, const JudgedCheck& outcome);

}  // namespace borescope::internal
