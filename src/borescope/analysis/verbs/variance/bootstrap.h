// How far shares would differ had other steps of the same kind been recorded. Internal to
// variance/.
#pragma once

#include <optional>
#include <vector>

#include "borescope/analysis/verbs/variance/covariance.h"

namespace borescope::internal {

struct ShareLimits {
  double low = 0;  // 5th and 95th percentile
  double high = 0;
  std::optional<bool> is_stable;  // of the three largest: whether it keeps its place in 80 %
};

// Of the causes of the matrix, then of the amount of work if `spread` has it; empty where `spread`
// has no shares. Steps are drawn with replacement 1,000 times, by a fixed seed; of more than 509
// steps groups of them are drawn. O(cells + 1,000 x the cells of 509 groups).
std::vector<ShareLimits> BootstrapShares(const StepMatrix& matrix, const StepSpread& spread);

}  // namespace borescope::internal
