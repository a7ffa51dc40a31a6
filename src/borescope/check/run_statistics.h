#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace borescope::internal {

// p values of several metrics that are judged together. Pure.

// Benjamini and Hochberg (1995): of the rows whose result is at most q, at most a part of q is
// expected to be false. In the order of `p`.
std::vector<double> FalseDiscoveryRates(std::span<const double> p);

// Holm (1979): rows whose result is at most alpha hold one that is false with a probability of at
// most alpha. In the order of `p`.
std::vector<double> HolmAdjusted(std::span<const double> p);

// How sure a shift between two runs is by what is inside of these runs alone: the moving-block
// bootstrap (Künsch 1989). It knows nothing of how much runs differ, so nothing may be decided by
// it. Pure; the same numbers at every call.

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

// Student's t distribution, and the spread of runs that it is used with. Pure.

// P(T > t) with `df` degrees of freedom, accurate to 1e-10. REQUIRES: df > 0.
double StudentTail(double t, double df);
// The t with StudentTail(t, df) = tail. REQUIRES: 0 < tail < 1, df > 0.
double StudentLimit(double tail, double df);

// How far values of runs of an unchanged program lie apart: a standard deviation, and how many
// degrees of freedom it is known with (0: not at all).
struct RunSpread {
  double deviation = 0;
  int64_t df = 0;
};

// Of groups of runs, each of one unchanged program: the deviations from the mean of the own group.
RunSpread PooledSpread(std::span<const std::vector<double>> groups);

// The smallest change that a comparison would find. Pure.

// A comparison of runs that has not happened: what it needs to call a change real.
struct PlannedTest {
  double base_runs = 0;
  double test_runs = 0;
  RunSpread spread = {};  // between runs of one program
  double alpha = 0.05;    // one-sided
  double least = 0;       // the estimate must be at least this large, too
};

// The probability that a change of `shift` is called real: that the estimate is at least `least`,
// and larger than the limit of the t test with the deviation that the runs will happen to have.
double PowerOf(const PlannedTest& test, double shift);

// The shift that is called real in `power` of all cases, to 1e-5. REQUIRES: spread.df > 0.
double DetectableShift(const PlannedTest& test, double power = 0.8);

// The Hodges-Lehmann estimate of how far one sample lies above another: the median of all
// differences between a value of the one and a value of the other (Hodges and Lehmann 1963). One
// odd run moves it little. Pure.

// Every test[j] - base[i], in ascending order. O(n m log(n m)).
std::vector<double> SortedDifferences(std::span<const double> base, std::span<const double> test);

// The median of SortedDifferences. REQUIRES: neither is empty.
double ShiftBetween(std::span<const double> base, std::span<const double> test);

// The exact permutation test of run labels with the rank sum as its statistic (Wilcoxon 1945, Mann
// and Whitney 1947): if nothing changed, each way to say which of all runs are those of the test is
// equally likely. No distribution is presumed and no seed needed, and the interval belongs to the
// Hodges-Lehmann estimate. Pure; any thread.

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
