// The times at which offsets and bounds of clocks are stated, as clocks drift: one for each set
// of ranks that met.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/measures/rank_clocks/meetings.h"

namespace borescope::internal {

struct ReferenceMoments {
  std::vector<size_t> meeting;         // by component: the one in the middle of its time
  std::vector<size_t> piece;           // by rank: of its clock, at that moment
  std::vector<int64_t> correction_ns;  // by rank: of its clock, at that moment
};

// O(visits log visits).
ReferenceMoments FindReferenceMoments(const Meetings& meetings, const VisitsByRank& by_rank,
                                      const ClockEstimate& estimate);

}  // namespace borescope::internal
