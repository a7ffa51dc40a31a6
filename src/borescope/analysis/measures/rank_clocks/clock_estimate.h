// The most likely clocks of ranks: all leave a meeting at nearly the same moment, so that the
// median difference between the times at which two ranks leave is that of their clocks. Ranks are
// put in line one after the other, along those that met most often. Nothing here is certain:
// clock_bounds.h says what is.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/clock_lines.h"
#include "borescope/analysis/measures/rank_clocks/meetings.h"

namespace borescope::internal {

// Which clock is put in line with which: along those ranks that met most often.

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

struct ClockEstimate {
  ClockTree tree;
  std::vector<ClockLine> lines;      // by rank: to the clock of the first rank of its component
  std::vector<int64_t> chance_ns;    // by rank: by which chance may have moved its line
  std::vector<int64_t> scatter_ns;   // by rank: of single visits about it
  std::vector<char> has_few_points;  // by rank: 1 where some line on the way rests on few meetings
  std::vector<int64_t> left_ns;      // by meeting: the median moment of leaving, on that clock

  // What is to be added to the times of a visit.
  int64_t CorrectionOf(const Visit& visit) const {
    return lines[visit.rank].CorrectionAt(visit.leave_ns);
  }
};

// Shifting all times of a rank shifts its line and changes nothing else.
// REQUIRES: meetings have two visits at least. O(visits log visits).
ClockEstimate EstimateRankClocks(const Meetings& meetings, const VisitsByRank& by_rank);

}  // namespace borescope::internal
