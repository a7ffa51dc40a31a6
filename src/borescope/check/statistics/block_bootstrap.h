// How sure a shift between two runs is by what is inside of these runs alone: the moving-block
// bootstrap (Künsch 1989). It knows nothing of how much runs differ, so nothing may be decided by
// it. Pure; the same numbers at every call.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace borescope::internal {

// The first lag at which the autocorrelation of the steps is below 0.1, but at least 2 and at most
// half of the steps.
size_t BlockLength(std::span<const double> steps);

struct ShiftInterval {
  double low = 0;
  double high = 0;
};

// Where the difference of the medians lies, with a share `alpha` of the resamples beyond either
// end. Nothing of runs with fewer than 5 steps.
std::optional<ShiftInterval> ShiftWithinRuns(std::span<const double> base,
                                             std::span<const double> test, double alpha);

}  // namespace borescope::internal
