// Which clock is put in line with which: along those ranks that met most often.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/meetings.h"

namespace borescope::internal {

inline constexpr uint32_t kNoComponent = ~uint32_t{0};

struct ClockTree {
  struct Edge {
    uint32_t parent;
    uint32_t child;
  };
  std::vector<Edge> edges;  // a parent is the first rank of its component or an earlier child
  // By rank: ranks that met each other, directly or through others, have one number, from 0 in the
  // order of their first ranks; kNoComponent for those without meetings.
  std::vector<uint32_t> component;
  std::vector<uint32_t> first_rank;  // by component
};

// A spanning tree of each component; parent and child have met. Groups that met most often come
// first. O(visits), times a logarithm.
ClockTree MakeClockTree(const Meetings& meetings);

}  // namespace borescope::internal
