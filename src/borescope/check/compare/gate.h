// The rows of the comparison with a baseline. Pure.
#pragma once

#include <vector>

#include "borescope/check/compare/judge.h"

namespace borescope::internal {

// Of logarithms of a metric, what groups of runs say about how much runs differ; values of 0 are
// left out.
RunSpread SpreadOf(const std::vector<std::vector<RunValues>>& groups, const MetricKey& key);

// The values of a metric with what is known of their noise, by run.
std::vector<RunNoise> NoiseOf(const std::vector<RunValues>& runs, const MetricKey& key);

// The time of the step first, then parts of it, classes and kernels by size. Kernels that are less
// than 1 % of a step in every run are left out. Empty without a baseline.
std::vector<GateRow> GateRows(const JudgedRuns& runs, const JudgeOptions& options);

}  // namespace borescope::internal
