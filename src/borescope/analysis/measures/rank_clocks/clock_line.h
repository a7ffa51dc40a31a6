// ClockLine: what has to be added to the times of one clock to get those of another. Clocks run at
// slightly different rates, and some are stepped while they run. A plain value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "borescope/base/intervals.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
