// How much of the time in collectives each rank of a run waits for others. A replay is of one rank
// and keeps that waiting as it was recorded, whatever changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/saturating.h"
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

// Of one rank; where the tables do not have it, nothing is known to wait.
inline CommWaiting WaitingOf(const std::map<int64_t, CommWaiting>& waiting, int64_t rank) {
  const auto found = waiting.find(rank);
  return found == waiting.end() ? CommWaiting() : found->second;
}

// "81.2 % of the time in collectives is waiting for other ranks".
std::string WordsOf(const CommWaiting& waiting);

// What waiting leaves of an answer for one rank (a row with new_ns, low_ns, high_ns, saved_share
// and note). A replay keeps the waiting as it was, but it depends on when the others come: a change
// of collectives has no price, and what is bound by them is at least what takes without_comm_ns.
template <class Row>
void LimitByWaiting(const CommWaiting& waiting, Row& row) {
  if (!row.without_comm_ns || !waiting.Matters()) {
    return;
  }
  const std::string part = WordsOf(waiting);
  if (row.is_of_collectives != 0) {
    row.note = part + ", which a change of the collectives keeps: it cannot be told from one rank";
    row.new_ns = row.low_ns = row.high_ns = {};
    row.saved_share = {};
    return;
  }
  if (!row.new_ns) {
    return;  // bounds alone are known
  }
  const int64_t error_ns = SubtractSaturating(row.high_ns.value_or(0), *row.new_ns);
  const int64_t least_ns = std::max<int64_t>(0, SubtractSaturating(*row.without_comm_ns, error_ns));
  row.low_ns = std::min(row.low_ns.value_or(least_ns), least_ns);
  const std::string limit = part + ", and whether they come earlier cannot be told from one rank";
  row.note = row.note ? *row.note + "; " + limit : limit;
}

}  // namespace borescope::internal
