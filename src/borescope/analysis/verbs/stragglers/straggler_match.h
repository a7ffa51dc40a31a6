// What travels from the map of `stragglers` to its finish, and the finish: collectives of all ranks
// are matched and the waiting in each is put down to the rank that came last.
//
// Three tables, by rank. They are compact, as a run may hold thousands of ranks with ten thousand
// collectives each: what many calls share stands once, in `keys`.
//   ranks  rank, collectives, unused
//   keys   rank, key, group, members, group_size, lane, collective, kernel, site, dtype, elems,
//          by_sequence
//   calls  rank, key, step, position, count, dur_ns, begin_ns, end_ns, bytes
// Calls of several ranks are one collective when all of their key but its number, and step and
// position, are equal; by sequence kernel, site and step do not matter. `count` is how many calls
// of the rank share key and step, 0 where it need not be the same on all ranks: elsewhere positions
// of ranks with different counts tell nothing, and nothing is matched.
#pragma once

#include <span>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Tables stragglers, late_collectives and collective_bandwidth from the tables of all ranks.
// kMissingData for a single rank. O(n log n) in the calls.
Result<Tables> ScoreStragglers(Tables ranks_keys_calls);

// Whether three tables of one rank are such: one row of the rank, keys numbered from 0, and calls
// of these.
Result<void> CheckStragglers(std::span<const Table> ranks_keys_calls);

}  // namespace borescope::internal
