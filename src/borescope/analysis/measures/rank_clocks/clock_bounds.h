// What is certain about the clocks of ranks. None leaves a meeting before all have entered it:
//
//   x_q - x_r <= leave_r - enter_q     for the ranks r, q of each meeting; x is added to a clock
//
// The tightest bounds that follow from all of these together are lengths of shortest paths. One
// point per meeting, the moment at which all are in, spares n^2 differences: enter_q + x_q <= M <=
// leave_r + x_r. Clocks that drift have one x at one moment only: the bounds are those of the
// reference moment, and a meeting some time away from it bounds by as much less as clocks may have
// drifted since.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/measures/rank_clocks/meetings.h"

namespace borescope::internal {

// The times at which offsets and bounds of clocks are stated, as clocks drift: one for each set
// of ranks that met.

struct ReferenceMoments {
  std::vector<size_t> meeting;         // by component: the one in the middle of its time
  std::vector<size_t> piece;           // by rank: of its clock, at that moment
  std::vector<int64_t> correction_ns;  // by rank: of its clock, at that moment
};

// O(visits log visits).
ReferenceMoments FindReferenceMoments(const Meetings& meetings, const VisitsByRank& by_rank,
                                      const ClockEstimate& estimate);

// How much two clocks may drift apart, per nanosecond: crystals keep 50 ppm.
inline constexpr double kAssumedDrift = 100e-6;

inline constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

struct ClockBounds {
  // By rank: what may have to be added to its times for them to be on the clock of the reference of
  // its component. -kUnbounded and kUnbounded where nothing is known.
  std::vector<int64_t> low_ns;
  std::vector<int64_t> high_ns;
  bool are_consistent = true;  // false: no clocks make all of this possible
};

// `slack_ns`, by meeting: by how much its clocks may have moved against the reference moment.
// Meetings that some leave before all entered count for nothing. `references`: one rank of each
// component. REQUIRES: times are as far as is known on clocks that are in line, so that bounds are
// small; a meeting may have any number of visits. O(visits) a sweep, and at most kMostBoundSweeps
// of them: more would only tighten bounds along chains of as many groups.
inline constexpr int kMostBoundSweeps = 32;
ClockBounds BoundClocks(const Meetings& meetings, std::span<const int64_t> slack_ns,
                        std::span<const uint32_t> references);

// Certain bounds of clocks from meetings of which a few may be wrong: matched with another one, or
// recorded with wrong times.

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
