// First offsets of clocks, from which estimates start: rank by rank along common meetings.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/meetings.h"

namespace borescope::internal {

struct ClockStart {
  std::vector<int64_t> offset_ns;   // by rank; 0 for the first rank of each component
  std::vector<uint32_t> component;  // as ClockEstimate has them
};

// A rank gets the median difference to the rank through which it is found, over all meetings that
// these two have in common. O(visits log ranks).
ClockStart StartClocks(const Meetings& meetings, const VisitsByRank& by_rank);

}  // namespace borescope::internal
