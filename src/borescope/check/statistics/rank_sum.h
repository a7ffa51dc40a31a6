// The exact permutation test of run labels with the rank sum as its statistic (Wilcoxon 1945, Mann
// and Whitney 1947): if nothing changed, each way to say which of all runs are those of the test is
// equally likely. No distribution is presumed and no seed needed, and the interval belongs to the
// Hodges-Lehmann estimate. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace borescope::internal {

// Up to so many runs on both sides together all labellings are counted; of more the normal
// approximation, with its correction for ties, is within 0.002 of that.
inline constexpr size_t kMostExactRuns = 60;

// The share of labellings in which the test side has a rank sum at least as large as observed:
// small where the test values are larger. Ties have the mean of their ranks. REQUIRES: neither is
// empty.
double RankSumP(std::span<const double> base, std::span<const double> test);

// The smallest value that RankSumP can have for so many runs: 1 of all labellings.
double SmallestRankSumP(size_t base_runs, size_t test_runs);

// A one-sided limit of the shift among the sorted differences.
struct RankLimit {
  size_t outside = 0;  // the limits are sorted[outside] and sorted[n m - 1 - outside]
  double level = 0;    // that it has: labellings come in steps, so it is at most what was asked for
};

// That of level `alpha`; nothing where there are too few runs for one.
std::optional<RankLimit> RankLimitOf(size_t base_runs, size_t test_runs, double alpha);

// The fewest runs a side with which `alpha` can be reached, of as many on both sides.
size_t RunsNeeded(double alpha);

}  // namespace borescope::internal
