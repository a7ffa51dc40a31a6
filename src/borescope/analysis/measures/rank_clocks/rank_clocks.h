// RankClocks: the clocks of all ranks aligned, with certain bounds and the likely offset of each,
// and how wrong that may be. docs/how-it-works/definitions.md has the method.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"

namespace borescope::internal {

// Certain bounds of the clocks of ranks. No rank leaves a meeting before all have entered it:
//
//   x_q - x_r <= leave_r - enter_q     for all ranks r, q of a meeting; x: what is added to a clock
//
// The tightest bounds that follow from all of these are lengths of shortest paths. One variable for
// each meeting, the time M at which all have entered, avoids n^2 differences: enter_q + x_q <= M <=
// leave_r + x_r. The x of a drifting clock changes with time: the bounds hold at a reference time,
// and those of other meetings are wider by as much as clocks may have drifted in between.

// The times at which offsets and bounds of clocks hold, as clocks drift: one for each set of ranks
// that met.
struct ReferenceMoments {
  std::vector<size_t> meeting;         // by component: the meeting in the middle of its time
  std::vector<size_t> piece;           // by rank: the piece of its clock at that time
  std::vector<int64_t> correction_ns;  // by rank: the correction of its clock at that time
};

// O(visits log visits).
ReferenceMoments FindReferenceMoments(const Meetings& meetings, const VisitsByRank& by_rank,
                                      const ClockEstimate& estimate);

// How much two clocks may drift apart, per nanosecond: crystals are within 50 ppm.
inline constexpr double kAssumedDrift = 100e-6;

inline constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

struct ClockBounds {
  // By rank: the least and the most that may have to be added to its times to get times of the
  // reference of its component. -kUnbounded and kUnbounded if nothing is known.
  std::vector<int64_t> low_ns;
  std::vector<int64_t> high_ns;
  bool are_consistent = true;  // false: no clocks satisfy all meetings
};

// `slack_ns`, by meeting: how far its clocks may have moved since the reference time. Meetings that
// a rank may leave before all have entered do not count. `references`: one rank of each component.
// REQUIRES: times are on estimated clocks, so that bounds are small; a meeting may have any number
// of visits. O(visits) for each of at most kMostBoundSweeps sweeps: more would only tighten bounds
// along chains of more groups than that.
inline constexpr int kMostBoundSweeps = 32;
ClockBounds BoundClocks(const Meetings& meetings, std::span<const int64_t> slack_ns,
                        std::span<const uint32_t> references);

// Certain bounds of clocks from meetings of which a few may be wrong: matched incorrectly, or
// recorded with wrong times.
struct ConsistentBounds {
  ClockBounds bounds;         // of the error of the correction at the reference time
  std::vector<char> dropped;  // by meeting: 1 if no clocks satisfy it together with the others
};

// Drops meetings that contradict the others, beginning with those that contradict the estimate
// most: at most one in a hundred, or one if there are 20 to 99. If that is not enough, bounds are
// not consistent. `grain_ns`: the coarsest resolution of recorded times. Begins and lengths are
// truncated to it, so an end may be recorded two grains early. O(visits log visits).
ConsistentBounds BoundConsistently(const Meetings& meetings, const ClockEstimate& estimate,
                                   const ReferenceMoments& moments, int64_t grain_ns);

enum class RankClockVerdict : uint8_t {
  kOneClock,       // apparently the same clock as that of another rank
  kAligned,        // a clock of its own, aligned
  kStepped,        // aligned piece by piece, as the clock was set while it ran
  kDoubtful,       // aligned with most, but more than 1 in 100 collectives contradict it
  kNotComparable,  // what was recorded contradicts itself: no clock satisfies it
  kNoMeetings,     // no collective with another rank is known
};
std::string_view RankClockVerdictName(RankClockVerdict verdict);

struct RankClockOptions {
  // How much later than others one rank may leave every time. This is an assumption that no
  // recording can prove, as such a rank looks exactly as if its clock were ahead.
  int64_t exit_allowance_ns = 10'000;
  // By rank: what is added to the times of its visits to get recorded times.
  std::vector<int64_t> base_ns = {};
  // By rank: the resolution of its recorded times.
  std::vector<int64_t> grain_ns = {};
};

struct RankClock {
  RankClockVerdict verdict = RankClockVerdict::kNoMeetings;
  uint32_t component = 0;  // the set of ranks that met; meaningless without meetings
  uint32_t clock = 0;      // ranks that seem to share a clock have the same number
  int64_t offset_ns = 0;   // to be added to recorded times at the reference time
  int64_t error_ns = 0;    // how wrong the offset may be, given the allowance
  // How wrong the offset may be at any meeting of the rank, if it is used for all of them: more if
  // the clock drifts or was set.
  int64_t whole_error_ns = 0;
  // The certain bounds of the offset; nullopt for references of components, and if there are none.
  std::optional<int64_t> low_ns;
  std::optional<int64_t> high_ns;
  std::optional<double> drift;  // against the reference; nullopt if it is not known
  int64_t steps = 0;            // how often the clock was set
  int64_t meetings = 0;
  int64_t contradicted =
      0;  // meetings that contradict the clocks because of this rank and another one
};

struct RankClocks {
  std::vector<RankClock> ranks;
  // By component: the meeting at its reference time, in the middle of its time.
  std::vector<size_t> reference_meeting;
  std::vector<int64_t>
      correction_ns;  // by visit: to be added to its times to get those of the shared clock
  std::vector<int64_t> left_ns;  // by meeting: when all left it, on the shared clock
  // By meeting: 1 if the last rank would have entered after the first had left, by more than the
  // errors of both clocks: they were not in the same meeting, or its times are wrong.
  std::vector<char> is_contradicted;
};

// With fewer than kFewPoints meetings and no bounds the error is at least this many allowances.
inline constexpr int64_t kFewMeetingsError = 10;

// Offsets are relative to the first rank of each component. Shifting all recorded times of a rank
// (its base) changes its offset, bounds and clock, and nothing else.
// REQUIRES: meetings have two visits or more, within kLargestMeetingTime. O(visits log visits).
RankClocks AlignRankClocks(const Meetings& meetings, const RankClockOptions& options);

}  // namespace borescope::internal
