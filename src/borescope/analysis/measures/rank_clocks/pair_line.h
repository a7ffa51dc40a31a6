// How one clock is put in line with another one, from the meetings that both saw.
#pragma once

#include <span>

#include "borescope/analysis/measures/rank_clocks/clock_drift.h"
#include "borescope/analysis/measures/rank_clocks/clock_line.h"

namespace borescope::internal {

struct PairLine {
  ClockLine line;
  int64_t scatter_ns = 0;  // of the points about it: one standard deviation
  // What chance alone may have moved the offset by: three standard errors of a median.
  int64_t chance_ns = 0;
  // Whether they are fewer than kFewPoints: their scatter, which is 0 for one, says nothing about
  // chance.
  bool has_few_points = false;
};
inline constexpr size_t kFewPoints = 5;

// The medians of what the clock is behind at these points, piece by piece between steps, about the
// rate at which it drifts. A clock with more than kMostSteps steps is taken for one without.
// REQUIRES: not empty, in the order in which the meetings were. O(n log n).
inline constexpr size_t kMostSteps = 16;
PairLine FitPairLine(std::span<const ClockPoint> points);

}  // namespace borescope::internal
