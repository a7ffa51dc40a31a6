// The reduce side of matching collectives: the calls of all ranks (rank_calls.h), put together by
// collective.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/collectives.h"
#include "borescope/table/table.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {

// The call of one rank in a collective that was found on several.

struct MatchedCall {
  uint32_t key;      // number of the key that all ranks share
  uint32_t key_row;  // of the rank's own key, with its kernel and site
  uint32_t score;    // number of the rank
  int64_t step;
  int64_t position;
  int64_t count;
  int64_t dur_ns;    // of its kernels together
  int64_t begin_ns;  // of the first of them, on the clock of its file
  int64_t end_ns;    // of the last
  int64_t bytes;     // of its message; kMissing: not known
  uint32_t row;      // of table `calls`; of several calls that became one, of the first
};

// When the ranks of one collective entered and left it, on the clocks of their files. REQUIRES: one
// call at least.
struct Participation {
  int64_t first_begin_ns;
  int64_t last_begin_ns;
  int64_t first_end_ns;
  int64_t last_end_ns;

  explicit Participation(std::span<const MatchedCall> calls)
      : first_begin_ns(calls.front().begin_ns),
        last_begin_ns(first_begin_ns),
        first_end_ns(calls.front().end_ns),
        last_end_ns(first_end_ns) {
    for (const MatchedCall& call : calls) {
      first_begin_ns = std::min(first_begin_ns, call.begin_ns);
      last_begin_ns = std::max(last_begin_ns, call.begin_ns);
      first_end_ns = std::min(first_end_ns, call.end_ns);
      last_end_ns = std::max(last_end_ns, call.end_ns);
    }
  }
};

// The keys of all ranks, numbered alike where they are alike. The table must outlive it.
class CollectiveKeys {
 public:
  // REQUIRES: a table `keys` of FindRankCalls, of several ranks one after the other.
  explicit CollectiveKeys(const Table& table);

  // The number of the key in this row.
  uint32_t Number(uint32_t row) const { return number_[row]; }
  // The row of the table with a rank's key. REQUIRES: the rank has it.
  uint32_t RowOf(int64_t rank, int64_t key) const {
    return static_cast<uint32_t>(first_row_.at(rank) + static_cast<size_t>(key));
  }
  bool BySequence(uint32_t number) const { return by_sequence_[number] != 0; }
  // kMissing: not recorded.
  int64_t GroupSize(uint32_t number) const;
  // Which process group it is of: keys of one group have one number, from 0.
  uint32_t Group(uint32_t number) const { return group_of_[number]; }
  const std::string& Text(uint32_t row, std::string_view column) const;

 private:
  const Table& table_;
  std::map<int64_t, size_t> first_row_;  // by rank; keys are numbered from 0 in each
  std::vector<uint32_t> number_;         // per row
  std::vector<size_t> row_of_;           // per number
  std::vector<char> by_sequence_;        // per number
  std::vector<uint32_t> group_of_;       // per number
};

// The places of ranks in the table `ranks`, by rank.
using RankPlaces = std::map<int64_t, uint32_t>;
RankPlaces PlacesOfRanks(const Table& ranks);

// Calls of one collective are together, in the order of ranks; several of one rank become one.
// REQUIRES: a table `calls` of FindRankCalls, of the ranks of `places`. O(n log n).
std::vector<MatchedCall> SortedCalls(const Table& calls, const CollectiveKeys& keys,
                                     const RankPlaces& places);

// Calls `use` for each collective with its calls, one a rank, and whether it is certain that they
// are one, and several.
using UseCollective = std::function<void(std::span<const MatchedCall> calls, bool is_matched)>;
void ForEachCollective(std::span<const MatchedCall> sorted, const CollectiveKeys& keys,
                       const UseCollective& use);

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
