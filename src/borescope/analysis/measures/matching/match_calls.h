// Matches the calls of several ranks that were one collective. The map side finds the calls of one
// rank and what identifies them; the reduce side puts the calls of all ranks together.
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

// The call of one rank in a collective that several ranks made.
struct MatchedCall {
  uint32_t key;      // number of the key, shared by all ranks
  uint32_t key_row;  // of the rank's own key, which has its kernel and site
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

// When the ranks of one collective entered and left it, on the clocks of their files. REQUIRES: at
// least one call.
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

// The keys of all ranks; equal keys have the same number. The table must outlive it.
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
  // The number of the key's process group, from 0.
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

// Calls `use` for each collective with its calls, one for each rank. `is_matched`: there are
// several, and they are certainly one collective.
using UseCollective = std::function<void(std::span<const MatchedCall> calls, bool is_matched)>;
void ForEachCollective(std::span<const MatchedCall> sorted, const CollectiveKeys& keys,
                       const UseCollective& use);

// The map side: the calls of one rank that end together on all ranks, and what identifies the same
// collective on another rank.
//
// The same collective has the same group and kind, and
//   - the same sequence number, where they are recorded;
//   - else the same kernel, call site, element type and size, and the same place among such calls:
//       - of the step, counted from the start;
//       - outside of steps counted from the start; before the first step, and where the launch is
//         before the recording, counted from the end: recordings of ranks begin at different places
//         of that part, and it ends at the same place for all.
// Counting from the start says nothing where one rank has more of these calls than another.
// Therefore each call has the number of calls it is counted among, and calls with different numbers
// are not matched.

// A call with its place among those of its rank.
struct MatchableCall {
  const CollectiveCall* call;
  uint32_t key;
  bool from_end;
  int64_t step;      // number, kMissing outside
  int64_t ts_ns;     // of its kernel
  int64_t position;  // the sequence number where there is one
  int64_t count;     // of the calls among which it is counted from the start; 0: it is not counted
                     // from the start
};

// Three tables of one rank. They are compact, as a run may have thousands of ranks with ten
// thousand collectives each: what many calls share is stored once, in `keys`.
//   ranks  rank, collectives, unused
//   keys   rank, key, group, members, group_size, lane, collective, kernel, site, dtype, elems,
//          by_sequence
//   calls  rank, key, step, position, count, dur_ns, begin_ns, end_ns, bytes
// Calls of several ranks are one collective when step, position and all columns of their key but
// its number are equal; with sequence numbers kernel, site and step do not matter. `count` is how
// many calls of the rank share key and step, 0 where it need not be the same on all ranks. Where it
// must be the same and differs, nothing is matched.
struct RankCalls {
  std::vector<CollectiveCall> all;  // calls of the rank, of every kind; `matchable` points into it
  std::vector<MatchableCall> matchable;  // the selected ones, in the order of table `calls`
  Tables tables;
};

// An error where the selection names something that the trace does not have. O(rows + c log c) for
// c calls.
Result<RankCalls> FindRankCalls(const RankView& view, const Selection& selection);

// Checks that these are three tables as FindRankCalls makes them for one rank: one row for the
// rank, keys numbered from 0, and calls with these keys. Further tables are ignored.
Result<void> CheckRankCalls(std::span<const Table> tables);

}  // namespace borescope::internal
