// The reduce side of matching collectives: the calls of all ranks (rank_calls.h), put together by
// collective.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/matching/matched_call.h"
#include "borescope/table/table.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
