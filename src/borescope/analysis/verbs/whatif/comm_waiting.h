// How much of the time in collectives each rank of a run waits for others. A replay is of one rank
// and keeps that waiting as it was recorded, whatever changes.
#pragma once

#include <cstdint>
#include <map>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/table/table.h"

namespace borescope::internal {

struct CommWaiting {
  int64_t all_ns = 0;      // in collectives that all ranks leave together
  int64_t waiting_ns = 0;  // of that
  // Sends and receives are there as well, of whose waiting nothing is known.
  bool has_others = false;

  // Waiting for other ranks, of all time in collectives.
  double share() const;
  // Whether what a replay says about collectives, or is bound by them, is in question.
  bool Matters() const;
};

// By rank, from the tables that FindRankCalls makes, of all ranks. A call waits for as long as it
// is longer than the shortest of its collective on any rank; one that no other rank has, for as
// long as it is longer than the fastest of its kind and size on the same rank. O(n log n) in the
// calls.
std::map<int64_t, CommWaiting> CommWaitingOf(const Tables& mapped);

}  // namespace borescope::internal
