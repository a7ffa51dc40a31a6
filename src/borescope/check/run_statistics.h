// Statistics for comparing groups of runs. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace borescope::internal {

// Benjamini and Hochberg (1995): p values of several tests corrected so that, among the tests with
// a result of at most q, the expected part of false ones is at most q. In the order of `p`.
std::vector<double> FalseDiscoveryRates(std::span<const double> p);

// Holm (1979): p values corrected so that the probability of any false one among those of at most
// alpha is at most alpha. In the order of `p`.
std::vector<double> HolmAdjusted(std::span<const double> p);

// The uncertainty of a shift between two runs from their steps alone, by the moving-block bootstrap
// (Künsch 1989). It ignores how much runs differ, so it must not decide anything. The same numbers
// at every call.

// The first lag at which the autocorrelation of the steps is below 0.1, but at least 2 and at most
// half of the steps.
size_t BlockLength(std::span<const double> steps);

struct ShiftInterval {
  double low = 0;
  double high = 0;
};

// The interval of the difference of medians, with a share `alpha` of the resamples beyond each end.
// nullopt for runs with fewer than 5 steps.
std::optional<ShiftInterval> ShiftWithinRuns(std::span<const double> base,
                                             std::span<const double> test, double alpha);

// Student's t distribution, and the spread of runs that it is used with.

// P(T > t) with `df` degrees of freedom, accurate to 1e-10. REQUIRES: df > 0.
double StudentTail(double t, double df);
// The t with StudentTail(t, df) = tail. REQUIRES: 0 < tail < 1, df > 0.
double StudentLimit(double tail, double df);

// How much values of runs of an unchanged program differ: a standard deviation, and its degrees of
// freedom (0: it is not known).
struct RunSpread {
  double deviation = 0;
  int64_t df = 0;
};

// The spread of groups of runs, each of one unchanged program, from deviations from the mean of
// each group.
RunSpread PooledSpread(std::span<const std::vector<double>> groups);

// The smallest change that a comparison would find.

// A planned comparison of runs, and when it calls a change real.
struct PlannedTest {
  double base_runs = 0;
  double test_runs = 0;
  RunSpread spread = {};  // between runs of one program
  double alpha = 0.05;    // one-sided
  double least = 0;       // the estimate must also be at least this large
};

// The probability that a change of `shift` is called real, that is, that the estimate is at least
// `least` and above the limit of the t test with the deviation that the runs turn out to have.
double PowerOf(const PlannedTest& test, double shift);

// The shift that is called real with probability `power`, accurate to 1e-5. REQUIRES: spread.df >
// 0.
double DetectableShift(const PlannedTest& test, double power = 0.8);

// The Hodges-Lehmann estimate of the shift between two samples: the median of all differences
// between a value of one and a value of the other (Hodges and Lehmann 1963). A single odd run
// changes it little.

// Every test[j] - base[i], in ascending order. O(n m log(n m)).
std::vector<double> SortedDifferences(std::span<const double> base, std::span<const double> test);

// The median of SortedDifferences. REQUIRES: neither is empty.
double ShiftBetween(std::span<const double> base, std::span<const double> test);

// The exact permutation test of run labels with the rank sum as its statistic (Wilcoxon 1945, Mann
// and Whitney 1947): if nothing changed, each labelling of the runs as base and test is equally
// likely. It assumes no distribution and needs no seed, and its interval belongs to the
// Hodges-Lehmann estimate.

// Up to this many runs in total all labellings are counted. For more, the normal approximation with
// correction for ties is used, which is within 0.002.
inline constexpr size_t kMostExactRuns = 60;

// The share of labellings in which the test side has a rank sum at least as large as observed:
// small if the test values are larger. Ties have the mean of their ranks. REQUIRES: neither is
// empty.
double RankSumP(std::span<const double> base, std::span<const double> test);

// The smallest possible value of RankSumP for these numbers of runs: one labelling of all.
double SmallestRankSumP(size_t base_runs, size_t test_runs);

// A one-sided limit of the shift among the sorted differences.
struct RankLimit {
  size_t outside = 0;  // the limits are sorted[outside] and sorted[n m - 1 - outside]
  double level = 0;    // its actual level, at most the requested one, as labellings are discrete
};

// The limit for level `alpha`; nullopt if there are too few runs.
std::optional<RankLimit> RankLimitOf(size_t base_runs, size_t test_runs, double alpha);

// The fewest runs on each side with which `alpha` can be reached.
size_t RunsNeeded(double alpha);

}  // namespace borescope::internal
