// RankClocks: the clocks of all ranks put in line, with what is certain about each, what is likely,
// and by how much that may be wrong. docs/how-it-works/definitions.md has the method.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"

namespace borescope::internal {

// What is certain about the clocks of ranks. None leaves a meeting before all have entered it:
//
//   x_q - x_r <= leave_r - enter_q     for the ranks r, q of each meeting; x is added to a clock
//
// The tightest bounds that follow from all of these together are lengths of shortest paths. One
// point per meeting, the moment at which all are in, spares n^2 differences: enter_q + x_q <= M <=
// leave_r + x_r. Clocks that drift have one x at one moment only: the bounds are those of the
// reference moment, and a meeting some time away from it bounds by as much less as clocks may have
// drifted since.

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

enum class RankClockVerdict : uint8_t {
  kOneClock,       // as far as can be seen, the same clock as that of another rank
  kAligned,        // a clock of its own, put in line
  kStepped,        // put in line piece by piece: the clock was set while it ran
  kDoubtful,       // in line with most, but more than 1 in 100 collectives contradict it
  kNotComparable,  // what was recorded contradicts itself: no clock makes it possible
  kNoMeetings,     // nothing that it did together with another rank is known
};
std::string_view RankClockVerdictName(RankClockVerdict verdict);

struct RankClockOptions {
  // By how much one rank may leave later than others each time: an assumption, which no recording
  // can prove. Such a rank looks exactly as if its clock were ahead.
  int64_t exit_allowance_ns = 10'000;
  // What is added to the times of visits of a rank to get recorded ones; by rank.
  std::vector<int64_t> base_ns = {};
  // The grain of the recorded times; by rank.
  std::vector<int64_t> grain_ns = {};
};

struct RankClock {
  RankClockVerdict verdict = RankClockVerdict::kNoMeetings;
  uint32_t component = 0;  // of ranks that met; meaningless without meetings
  uint32_t clock = 0;      // ranks with one number seem to share a clock
  int64_t offset_ns = 0;   // to be added to recorded times at the reference moment
  int64_t error_ns = 0;    // by which the offset may be wrong, under the allowance
  // By which it may be wrong at any of its meetings, if it is taken for all of them: more where the
  // clock drifts or was set.
  int64_t whole_error_ns = 0;
  // The certain bounds of the offset; nothing for references of components, and where there are
  // none.
  std::optional<int64_t> low_ns;
  std::optional<int64_t> high_ns;
  std::optional<double> drift;  // against the reference; nothing where it is not known
  int64_t steps = 0;            // how often the clock was set
  int64_t meetings = 0;
  int64_t contradicted = 0;  // meetings that contradict the clocks, in which it is one of the two
};

struct RankClocks {
  std::vector<RankClock> ranks;
  // By component: its reference moment, the meeting in the middle of its time, if it has any.
  std::vector<size_t> reference_meeting;
  std::vector<int64_t> correction_ns;  // by visit: to be added to its times to get shared ones
  std::vector<int64_t> left_ns;        // by meeting: when all left it, on the clock that they share
  // By meeting: 1 where the last rank would have entered after the first had left, by more than
  // the errors of both clocks: not one meeting, or recorded with wrong times.
  std::vector<char> is_contradicted;
};

// Of fewer than kFewPoints meetings, and without bounds, this is the least error, in allowances.
inline constexpr int64_t kFewMeetingsError = 10;

// Offsets are relative to the first rank of each component. Shifting all recorded times of a rank
// (its base) changes its offset, bounds and clock, and nothing else.
// REQUIRES: meetings have two visits or more, within kLargestMeetingTime. O(visits log visits).
RankClocks AlignRankClocks(const Meetings& meetings, const RankClockOptions& options);

}  // namespace borescope::internal
