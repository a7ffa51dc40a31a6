// ClockLine: what has to be added to the times of one rank so that they are those of a clock that
// all ranks share. Clocks run at slightly different rates, and some are stepped while they run. A
// plain value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace borescope::internal {

struct ClockLine {
  struct Piece {
    int64_t from_ns;    // of the rank's own clock; the first holds for all earlier times, too
    int64_t offset_ns;  // at time 0 of the rank's own clock
  };

  std::vector<Piece> pieces{{std::numeric_limits<int64_t>::min(), 0}};
  double drift = 0;  // added per nanosecond; the same in all pieces

  // Index of the piece in which a time lies.
  size_t PieceAt(int64_t ns) const {
    const auto after =
        std::upper_bound(pieces.begin() + 1, pieces.end(), ns,
                         [](int64_t t, const Piece& piece) { return t < piece.from_ns; });
    return static_cast<size_t>(after - pieces.begin()) - 1;
  }
  int64_t CorrectionIn(size_t piece, int64_t ns) const {
    return pieces[piece].offset_ns + std::llround(drift * static_cast<double>(ns));
  }
  int64_t CorrectionAt(int64_t ns) const { return CorrectionIn(PieceAt(ns), ns); }
  bool is_constant() const { return pieces.size() == 1 && drift == 0; }
};

}  // namespace borescope::internal
