// How a clock moves against the one that all ranks share: at which rate, and where it was stepped.
// Pure functions of points (time, how far the clock is behind then), which lie about a line that
// steps break into pieces. A point may be off by any amount now and then: a rank that left late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace borescope::internal {

struct ClockPoint {
  int64_t at_ns;
  int64_t behind_ns;
};

// In shorter recordings no drift is looked for: crystals differ by some 50 ppm, which is 5 us then.
inline constexpr int64_t kLeastDriftSpan = 100'000'000;
// No crystal is off by as much: what looks like it is something else, and no drift is taken.
inline constexpr double kMostDrift = 250e-6;

// The rate in ns per ns, whatever a few steps do: the median slope between medians of short
// stretches that lie an eighth of the time apart. 0 for fewer than 6 points and for less than
// kLeastDriftSpan. REQUIRES: points by time. O(n).
double RateAcrossSteps(std::span<const ClockPoint> points);

// The rate within pieces that begin at the points `begins` (the first of them 0): the median of
// slopes between medians of stretches of one piece (Theil and Sen). 0 where that is less than
// three times what chance alone would give. REQUIRES: points by time. O(n).
double RateWithinPieces(std::span<const ClockPoint> points, std::span<const size_t> begins);

// Where the clock was stepped: the first point after each step. A step is a change of the median
// of eight points (four, where there are few) by more than ten times their scatter, and by 5 us,
// that lasts. REQUIRES: points
// by time, without drift. O(n).
std::vector<size_t> FindClockSteps(std::span<const ClockPoint> points);

}  // namespace borescope::internal
