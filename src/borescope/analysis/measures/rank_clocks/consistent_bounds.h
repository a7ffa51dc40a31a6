// Certain bounds of clocks from meetings of which a few may be wrong: matched with another one, or
// recorded with wrong times.
#pragma once

#include <vector>

#include "borescope/analysis/measures/rank_clocks/clock_bounds.h"
#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/measures/rank_clocks/reference_moments.h"

namespace borescope::internal {

struct ConsistentBounds {
  ClockBounds bounds;         // of what the correction at the reference moment may lack
  std::vector<char> dropped;  // by meeting: 1 where no clocks make it possible beside the others
};

// Meetings that contradict the others are dropped, those first that contradict the estimate most;
// at most one in a hundred, and one where there are 20. If that is not enough, bounds are not
// consistent. `grain_ns` is the coarsest of recorded times: begins and lengths are cut to it, so
// that an end may be recorded two grains early. O(visits) times a logarithm.
ConsistentBounds BoundConsistently(const Meetings& meetings, const ClockEstimate& estimate,
                                   const ReferenceMoments& moments, int64_t grain_ns);

}  // namespace borescope::internal
