// The map side of matching collectives: the calls of one rank that end together on all ranks, and
// what says which call of another rank is the same collective.
//
// The same collective has the same group and kind, and
//   - the same sequence number, where they are recorded;
//   - else the same kernel, call site, element type and size, and the same place among such calls:
//       - of the step, counted from the start;
//       - outside of steps counted from the start; before the first step, and where the launch lies
//         before the recording, counted from the end: recordings begin at different times of that
//         past, and end it at the same.
// Counting from the start says nothing where one rank holds more of these calls than another: the
// count travels along, and differing ones are not matched.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/collective_calls.h"

namespace borescope::internal {

// A call with its place among those of its rank.
struct MatchableCall {
  const CollectiveCall* call;
  uint32_t key;
  bool from_end;
  int64_t step;      // number, kMissing outside
  int64_t ts_ns;     // of its kernel
  int64_t position;  // the sequence number where there is one
  int64_t count;     // of those it is counted among from the start; 0: not counted so
};

// Three tables of one rank. They are compact, as a run may hold thousands of ranks with ten
// thousand collectives each: what many calls share is there once, in `keys`.
//   ranks  rank, collectives, unused
//   keys   rank, key, group, members, group_size, lane, collective, kernel, site, dtype, elems,
//          by_sequence
//   calls  rank, key, step, position, count, dur_ns, begin_ns, end_ns, bytes
// Calls of several ranks are one collective when all of their key but its number, and step and
// position, are equal; by sequence kernel, site and step do not matter. `count` is how many calls
// of the rank share key and step, 0 where it need not be the same on all ranks: elsewhere positions
// of ranks with different counts tell nothing, and nothing is matched.
struct RankCalls {
  std::vector<CollectiveCall> all;  // calls of the rank, of every kind; `matchable` points into it
  std::vector<MatchableCall> matchable;  // the selected ones, in the order of table `calls`
  Tables tables;
};

// An error where the selection names what is not there. O(rows + c log c) for c calls.
Result<RankCalls> FindRankCalls(const RankView& view, const Selection& selection);

// Whether three tables of one rank are such: one row of the rank, keys numbered from 0, and calls
// of these. Further tables are not looked at.
Result<void> CheckRankCalls(const Tables& tables);

}  // namespace borescope::internal
