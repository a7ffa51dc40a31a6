#include "borescope/check/compare/compare_metric.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "borescope/check/statistics/block_bootstrap.h"
#include "borescope/check/statistics/detectable.h"
#include "borescope/check/statistics/hodges_lehmann.h"
#include "borescope/check/statistics/rank_sum.h"

namespace borescope::internal {
namespace {

using Values = std::vector<double>;

// Runs of one program that make its spread known well enough.
constexpr int64_t kFewestDegrees = 4;
// 3 v 3 runs reach 0.05 exactly, but for rounding.
constexpr double kRounding = 1 + 1e-9;

// Times differ by factors: their logarithms by sums.
Values LogsOf(std::span<const double> values) {
  Values logs;
  logs.reserve(values.size());
  for (const double value : values) {
    logs.push_back(std::log(std::max(value, 1.0)));
  }
  return logs;
}

RunSpread OwnSpread(const Values& base, const Values& test) {
  const Values groups[] = {base, test};
  return PooledSpread(groups);
}

// That of other runs, or of both sides themselves, each around its own mean.
RunSpread KnownSpread(const Values& base, const Values& test, const RunSpread& history) {
  const RunSpread own = OwnSpread(base, test);
  return history.df >= kFewestDegrees ? history : own.df >= kFewestDegrees ? own : RunSpread{};
}

double ShareOfShift(double shift) { return std::expm1(shift); }

// Returns the level that the test has.
double TestByRanks(const Values& base, const Values& test, double alpha, MetricComparison& result) {
  result.by = ChangeTest::kRanks;
  result.worse_p = RankSumP(base, test);
  result.better_p = RankSumP(test, base);
  const Values differences = SortedDifferences(base, test);
  const RankLimit limit =
      RankLimitOf(base.size(), test.size(), alpha).value_or(RankLimit{0, alpha});
  result.low = ShareOfShift(differences[limit.outside]);
  result.high = ShareOfShift(differences[differences.size() - 1 - limit.outside]);
  return limit.level;
}

void TestByT(double shift, double error, int64_t df, double alpha, MetricComparison& result) {
  const auto degrees = static_cast<double>(df);
  const double reach = StudentLimit(alpha, degrees) * error;
  result.by = ChangeTest::kT;
  result.low = ShareOfShift(shift - reach);
  result.high = ShareOfShift(shift + reach);
  const double no_spread = shift == 0 ? 0.5 : shift > 0 ? 0 : 1;
  result.worse_p = error > 0 ? StudentTail(shift / error, degrees) : no_spread;
  result.better_p = 1 - *result.worse_p;
}

// A deviation that is too small as often as it is too large: that of few runs is mostly too small
// (Wilson and Hilferty 1931).
RunSpread WithoutBias(RunSpread spread) {
  const double median = std::pow(1 - 2 / (9 * static_cast<double>(spread.df)), 3);
  spread.deviation /= std::sqrt(median);
  return spread;
}

void AddDetectable(const Values& base, const Values& test, const RunSpread& spread, double level,
                   double least, MetricComparison& result) {
  if (spread.df > 0) {
    const PlannedTest planned{static_cast<double>(base.size()), static_cast<double>(test.size()),
                              WithoutBias(spread), level, std::log1p(least)};
    result.detectable = ShareOfShift(DetectableShift(planned));
  }
}

}  // namespace

MetricComparison CompareRuns(std::span<const double> base, std::span<const double> test,
                             const RunSpread& history, const ComparisonRules& rules) {
  MetricComparison result;
  result.base = MedianOf({base.begin(), base.end()});
  result.test = MedianOf({test.begin(), test.end()});
  const Values earlier = LogsOf(base);
  const Values later = LogsOf(test);
  const double shift = ShiftBetween(earlier, later);
  if (result.base > 0 && result.test > 0) {
    result.change = ShareOfShift(shift);
  }
  const RunSpread known = KnownSpread(earlier, later, history);
  if (SmallestRankSumP(base.size(), test.size()) <= rules.alpha * kRounding) {
    const double level = TestByRanks(earlier, later, rules.alpha, result);
    AddDetectable(earlier, later, OwnSpread(earlier, later), level, rules.least, result);
  } else if (known.df > 0) {
    const double runs = 1 / static_cast<double>(base.size()) + 1 / static_cast<double>(test.size());
    TestByT(shift, known.deviation * std::sqrt(runs), known.df, rules.alpha, result);
    AddDetectable(earlier, later, known, rules.alpha, rules.least, result);
  }
  if (rules.less_is_worse) {
    std::swap(result.worse_p, result.better_p);
  }
  return result;
}

void AddIntervalOfSteps(std::span<const double> base, std::span<const double> test, double alpha,
                        MetricComparison& comparison) {
  const std::optional<ShiftInterval> interval = ShiftWithinRuns(LogsOf(base), LogsOf(test), alpha);
  if (interval.has_value()) {
    comparison.low = ShareOfShift(interval->low);
    comparison.high = ShareOfShift(interval->high);
    comparison.is_within_runs = true;
  }
}

std::string_view VerdictName(Verdict verdict) {
  constexpr std::string_view kNames[] = {"same", "slower", "faster", "cannot tell", "new", "gone"};
  return kNames[static_cast<size_t>(verdict)];
}

Verdict VerdictOf(const MetricComparison& comparison, const ComparisonRules& rules, double worse_p,
                  double better_p) {
  if (comparison.by == ChangeTest::kNone || !comparison.change.has_value()) {
    return Verdict::kCannotTell;
  }
  const double sign = rules.less_is_worse ? -1 : 1;
  const double worse_by = sign * *comparison.change;
  const double most = sign > 0 ? *comparison.high : -*comparison.low;
  const double amount = std::abs(comparison.test - comparison.base);
  const bool matters = std::abs(worse_by) >= rules.least && amount >= rules.least_amount;
  if (worse_p <= rules.alpha * kRounding && worse_by > 0 && matters) {
    return Verdict::kWorse;
  }
  if (better_p <= rules.alpha * kRounding && worse_by < 0 && matters) {
    return Verdict::kBetter;
  }
  return most < rules.least ? Verdict::kSame : Verdict::kCannotTell;
}

}  // namespace borescope::internal
