// Which ranks of a large run spend their time alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "borescope/table/table.h"

namespace borescope::internal {

// From this many ranks on, text output shows only the first rows of tables with a row for each
// rank, and groups of ranks.
inline constexpr size_t kManyRanks = 17;
inline constexpr size_t kShownRanks = 4;

// Table rank_groups: ranks grouped by how they spend their time, the largest group first. Compared
// are the times in which each rank computes, only communicates, only copies, and idles, in units of
// the median span of all ranks. Differences below two percent of it do not separate groups. No rows
// for fewer than kManyRanks ranks with device work. REQUIRES: a breakdown without further keys.
Table RankGroups(const Table& breakdown);

// Ascending numbers as a short text: "0..16, 18..511", "1..505 step 8". Long lists are cut.
std::string ListNumbers(std::span<const int64_t> numbers);

// Groups points by distance: two points that are near each other are in the same group, and so are
// all points connected by a chain of such pairs (single linkage). Which distance is near is derived
// from the points themselves, so that noise makes no groups. Pure.
//
// A group may have any shape and size. Points are neither weighted nor sampled, and their order
// does not change the groups.

inline constexpr size_t kPointSize = 4;
using GridPoint = std::array<double, kPointSize>;

// The side of the cells that decide which points are near: four times the median distance (the
// largest difference of a coordinate) of points to their nearest neighbour, and at least
// `smallest`. If there are many points, evenly chosen ones are used for the median.
double CellSide(std::span<const GridPoint> points, double smallest);

// The group of each point, numbered from 0 in the order of their first points. Points are near if
// their grid cells are the same or touch, corners included. This holds whenever no coordinate
// differs by more than `side`, and never if one differs by twice that. O(points). REQUIRES:
// coordinates are finite, `side` is above 0.
std::vector<uint32_t> GroupPoints(std::span<const GridPoint> points, double side);

}  // namespace borescope::internal
