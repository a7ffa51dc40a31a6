// Which ranks of a large run behave alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

// Groups points by closeness: two points that are near each other are in one group, and so are all
// that a chain of such pairs connects (single linkage). How near is near follows from the points
// themselves, so that noise makes no groups. Pure.
//
// A group may be of any shape and size; points are neither weighted nor sampled, and their order
// does not matter to who is with whom.

inline constexpr size_t kPointSize = 4;
using GridPoint = std::array<double, kPointSize>;

// The side of the cells by which nearness is decided: four times the distance (the largest
// difference of a coordinate) that half of the points have to their nearest neighbour, and at least
// `smallest`. Of many points, it is the half of some that are spread evenly over them.
double CellSide(std::span<const GridPoint> points, double smallest);

// The group of each point, numbered from 0 in the order of their first points. Points are near
// where their cells of the grid are the same or touch, at a corner too: always where no coordinate
// differs by more than `side`, and never where one differs by twice that. Linear in points.
// REQUIRES: coordinates are finite, `side` is above 0.
std::vector<uint32_t> GroupPoints(std::span<const GridPoint> points, double side);

}  // namespace borescope::internal
