// How much longer the ranks of a run wait for each other than those of another run: what is longer
// in a collective may be the transfer, or a rank that comes later.
#pragma once

#include <string>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/diff/changes.h"
#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// The table `diff_waiting`, and the same in half a sentence.
struct WaitingChange {
  bool is_known = false;  // collectives of both runs could be matched
  Table table;
  // "ranks wait 5.7 ms more for each other in collectives, 100.0 % of it for rank 3"; or empty.
  std::string words;
};

// From the tables of FindRankCalls of all ranks of either run: the mean of a unit of each rank, of
// the collectives within steps where steps are compared. The rows are the ranks that others waited
// for, in either run. The words are there where the waiting differs by 1 % of `whole_ns`, the
// longer one of the two times that are compared, at least; they name a rank that has half of the
// difference or more.
Result<WaitingChange> CompareWaiting(Tables base_calls, Tables test_calls, const RunUnits& units,
                                     int64_t whole_ns);

}  // namespace borescope::internal
