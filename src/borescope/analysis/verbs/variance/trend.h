// Whether steps get longer, and whether that repeats. Internal to variance/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "borescope/analysis/verbs/variance/step_matrix.h"

namespace borescope::internal {

// ns per step.
struct Trend {
  double slope = 0;
  double low = 0;  // of 90 %
  double high = 0;
};

// The median of the slopes between all pairs of steps (Theil 1950, Sen 1968), over their numbers,
// with the limits of Kendall's tau; of more than 512 steps, between the medians of as many groups
// of neighbours. nullopt for fewer than five steps. O(steps log steps + 512^2). Between
// two of one number there is no slope. REQUIRES: `steps` are sorted by number.
std::optional<Trend> TrendOf(const std::vector<MatrixStep>& steps);

struct Period {
  int64_t steps = 0;       // from one to the next
  double correlation = 0;  // of the lengths of steps with those that many steps later
};

// The lag from 2 to a third of the steps, at most 256, with the largest autocorrelation, if that is
// above 0.5 and above those of both neighbours; after the trend was taken out. O(256 steps).
std::optional<Period> PeriodOf(const std::vector<MatrixStep>& steps, double slope);

}  // namespace borescope::internal
