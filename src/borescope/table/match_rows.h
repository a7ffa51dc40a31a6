// Matches corresponding rows of two tables by their keys.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "borescope/table/table.h"

namespace borescope::internal {

inline constexpr uint32_t kNoRow = ~uint32_t{0};

// A row of either run, or of both; row numbers of the joined table.
struct RowPair {
  uint32_t mine = kNoRow;
  uint32_t other = kNoRow;
};

// Pairs of the rows of `joined`, of which the first `mine` are of one run and all further ones of
// another, in the order documented for MatchRows. nullopt if keys are not unique within one run.
// Keys are compared as CompareCells does, except `depth`, which makes a tree of the rows.
std::optional<std::vector<RowPair>> PairRows(const Table& joined, uint32_t mine);

}  // namespace borescope::internal
