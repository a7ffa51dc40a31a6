#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "borescope/base/intervals.h"

namespace borescope::internal {

// ClockLine: what has to be added to the times of one clock to get those of another. Clocks run at
// slightly different rates, and some are stepped while they run. A plain value.

struct ClockLine {
  struct Piece {
    int64_t from_ns;    // of the clock itself; the first holds for all earlier times, too
    int64_t offset_ns;  // at time 0 of the clock
  };

  std::vector<Piece> pieces{{std::numeric_limits<int64_t>::min(), 0}};
  double drift = 0;  // added per nanosecond; the same in all pieces
  // Times of the clock around steps, both ends included: what of them was before a step is not
  // known for certain.
  std::vector<Interval> doubtful = {};

  size_t PieceAt(int64_t ns) const {
    const auto after =
        std::upper_bound(pieces.begin() + 1, pieces.end(), ns,
                         [](int64_t t, const Piece& piece) { return t < piece.from_ns; });
    return static_cast<size_t>(after - pieces.begin()) - 1;
  }
  // REQUIRES: piece < pieces.size().
  int64_t CorrectionIn(size_t piece, int64_t ns) const {
    return pieces[piece].offset_ns + std::llround(drift * static_cast<double>(ns));
  }
  int64_t CorrectionAt(int64_t ns) const { return CorrectionIn(PieceAt(ns), ns); }
  // Whether the clock may have been stepped within these times.
  bool IsDoubtful(int64_t begin_ns, int64_t end_ns) const {
    return std::any_of(doubtful.begin(), doubtful.end(), [&](const Interval& step) {
      return begin_ns <= step.end && end_ns >= step.begin;
    });
  }

  // From times of a clock by `first` to those of another, and from there by `second` to a third.
  static ClockLine Compose(const ClockLine& first, const ClockLine& second);
};

// How a clock moves against the one that all ranks share: at which rate, and where it was stepped.
// Pure functions of points (time, how far the clock is behind then), which lie about a line that
// steps break into pieces. A point may be off by any amount now and then: a rank that left late.

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

// How one clock is put in line with another one, from the meetings that both saw.

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
