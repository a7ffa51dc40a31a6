// The most likely clocks of ranks: all leave a meeting at nearly the same moment, so that the
// medians over meetings of when a rank leaves, against the median over ranks, put the clocks in
// line. Nothing here is certain: clock_bounds.h says what is.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/clock_line.h"
#include "borescope/analysis/measures/rank_clocks/meetings.h"

namespace borescope::internal {

inline constexpr uint32_t kNoComponent = ~uint32_t{0};

struct ClockEstimate {
  std::vector<ClockLine> lines;  // by rank
  // By rank: ranks that met each other, directly or through others, have one number, from 0 in the
  // order of their first ranks. Clocks of different components have nothing to do with each other.
  std::vector<uint32_t> component;
  std::vector<int64_t> left_ns;  // by meeting: when all left it, on the clock that they share
  std::vector<double> sigma_ns;  // by rank: scatter of its leaving about that, in any piece
};

// The first rank of a component is its reference, about which the shared clock lies. Shifting all
// times of a rank shifts its line and changes nothing else.
// REQUIRES: meetings have two visits at least. O(visits log visits), times at most 20 rounds.
ClockEstimate EstimateRankClocks(const Meetings& meetings, const VisitsByRank& by_rank);

}  // namespace borescope::internal
