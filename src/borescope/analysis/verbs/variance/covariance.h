// How much of the variance of the length of steps goes with each cause. Internal to variance/.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "borescope/analysis/verbs/variance/step_matrix.h"

namespace borescope::internal {

// So many steps are needed for shares.
inline constexpr size_t kStepsForShares = 5;

struct CauseSpread {
  double mean_ns = 0;
  double sd_ns = 0;             // of a sample; without what goes with the amount of work
  std::optional<double> share;  // Cov(cause, length) / Var(length)
  double slope = 0;             // ns per FLOP; 0 without `work`
};

struct StepSpread {
  bool is_alike = false;            // all steps are equally long
  std::vector<CauseSpread> causes;  // as in the matrix
  // What goes with the amount of work, a row of its own; not where steps do equal work, or where
  // more work does not take longer.
  std::optional<CauseSpread> work;
};

// Covariances are exact sums of integers, so that shares, with that of `work`, add up to 1 but for
// the rounding of quotients; none for fewer than kStepsForShares steps or equal ones.
// O(steps + cells).
StepSpread SpreadOf(const StepMatrix& matrix);

// The amounts of work of the steps, less their mean and as a part of it: comparable numbers. Empty
// where not all are known, or all differ by no more than a thousandth.
std::vector<double> RelativeWork(const std::vector<MatrixStep>& steps);

}  // namespace borescope::internal
