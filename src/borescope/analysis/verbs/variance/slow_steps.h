// Steps that took longer than the usual one, and by what. Internal to variance/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/analysis/verbs/variance/step_statistics.h"

namespace borescope::internal {

struct SlowCause {
  std::string what;  // empty for none
  int64_t ns = 0;
};

struct SlowStep {
  uint32_t step = 0;  // index into StepMatrix::steps
  int64_t over_ns = 0;
  bool is_outlier = false;
  std::vector<SlowCause> causes;  // the first three
  int64_t rest_ns = 0;            // with them adds up to over_ns
};

// How long steps usually take.
struct UsualLength {
  double median_ns = 0;
  double mad_ns = 0;          // median of the distances from the median
  double outlier_ns() const;  // from there on a step is an outlier
};
UsualLength UsualLengthOf(const std::vector<MatrixStep>& steps);

// How a cause is called beside its time, with the short name of a kernel: "rank 3 cpu aten::mm".
std::string DescribeCause(const CauseKey& key, bool with_rank);

// Steps beyond median + 3.5 x 1.4826 MAD, else the slowest; of fewer than kStepsForShares all that
// took longer than the usual one. Compared with the mean of the steps between the 40th and the 60th
// percentile of length, part by part. Slowest first. O(steps log steps + cells).
std::vector<SlowStep> FindSlowSteps(const StepMatrix& matrix, const StepSpread& spread,
                                    bool with_ranks);

}  // namespace borescope::internal
