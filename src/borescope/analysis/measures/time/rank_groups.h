// Which ranks of a large run behave alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "borescope/table/table.h"

namespace borescope::internal {

// Tables with a row for each rank are long from so many rows on: text shows the first of them, and
// groups of ranks.
inline constexpr size_t kManyRanks = 17;
inline constexpr size_t kShownRanks = 4;

// Table rank_groups: ranks by how they spend their time, the largest group first. What is compared
// is how long each rank computes, communicates and copies with nothing else, and idles, in units of
// the median span of all ranks (point_groups.h); differences of less than two percent of it make no
// group. No rows for fewer than kManyRanks ranks with device work. REQUIRES: a breakdown without
// further keys.
Table RankGroups(const Table& breakdown);

// Numbers that ascend, for people: "0..16, 18..511", "1..505 step 8". Long lists are cut.
std::string ListNumbers(std::span<const int64_t> numbers);

}  // namespace borescope::internal
