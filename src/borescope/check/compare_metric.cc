#include "borescope/check/compare_metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "borescope/base/statistics/statistics.h"
#include "borescope/check/run_statistics.h"

namespace borescope::internal {

namespace {

// The relative difference up to which the work of runs of one program agrees.
constexpr double kMostOtherWork = 0.001;

bool IsOtherWork(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() && b.has_value() &&
         std::abs(*a - *b) > kMostOtherWork * std::max(std::abs(*a), std::abs(*b));
}

std::string RanksText(const RunValues& run) {
  return fmt::format("{} {}{}", run.ranks, run.ranks == 1 ? "rank" : "ranks",
                     run.world_size > 0 ? fmt::format(" of a world of {}", run.world_size) : "");
}

std::string WhyNot(const RunValues& base, const RunValues& test) {
  if (!base.devices.empty() && !test.devices.empty() && base.devices != test.devices) {
    return fmt::format("{} ran on {}, {} on {}", base.name, base.devices, test.name, test.devices);
  }
  const bool is_other_world =
      base.world_size > 0 && test.world_size > 0 && base.world_size != test.world_size;
  if (is_other_world || base.ranks != test.ranks) {
    return fmt::format("{} has {}, {} has {}", base.name, RanksText(base), test.name,
                       RanksText(test));
  }
  if (IsOtherWork(base.step_flops, test.step_flops)) {
    return fmt::format("matrix products of a step are {:.4g} FLOPs in {} and {:.4g} in {}",
                       *base.step_flops, base.name, *test.step_flops, test.name);
  }
  return "";
}

}  // namespace

std::vector<double> ValuesOf(const std::vector<RunValues>& runs, const MetricKey& key) {
  std::vector<double> values;
  for (const RunValues& run : runs) {
    if (const auto found = run.metrics.find(key); found != run.metrics.end()) {
      values.push_back(found->second.value);
    }
  }
  return values;
}

std::string WhyNotComparable(const std::vector<RunValues>& base,
                             const std::vector<RunValues>& test) {
  if (base.empty() || test.empty()) {
    return "";
  }
  const RunValues& first = base.front();
  for (const std::vector<RunValues>* side : {&base, &test}) {
    for (const RunValues& run : *side) {
      if (const std::string why = WhyNot(first, run); !why.empty()) {
        return why;
      }
    }
  }
  return "";
}

namespace {

using Values = std::vector<double>;

// The fewest degrees of freedom with which the spread of a program is known well enough.
constexpr int64_t kFewestDegrees = 4;
// 3 against 3 runs reach 0.05 exactly, except for rounding.
constexpr double kRounding = 1 + 1e-9;
// Fewer steps do not show how much steps differ; with fewer runs no test by ranks has a level.
constexpr int64_t kFewestSteps = 3;
constexpr size_t kFewestRuns = 3;
// How many times as far apart as the runs of one side the sides must be.
constexpr double kTimesNoise = 3;

// Values in the scale in which they are compared. Times differ by factors, so their logarithms are
// used. If a value is 0, which has no logarithm, all values are used as they are.
struct ComparedValues {
  Values base;
  Values test;
  bool are_logs = false;
  double unit = 0;  // without logarithms: the base to which changes are relative; 0: there is none

  // A shift relative to the base; nullopt if the base is 0.
  std::optional<double> ShareOf(double shift) const {
    return are_logs   ? std::optional(std::expm1(shift))
           : unit > 0 ? std::optional(shift / unit)
                      : std::nullopt;
  }
};

bool ArePositive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

Values LogsOf(std::span<const double> values) {
  Values logs;
  logs.reserve(values.size());
  for (const double value : values) {
    logs.push_back(std::log(value));
  }
  return logs;
}

ComparedValues ComparedOf(std::span<const double> base, std::span<const double> test,
                          double median_of_base) {
  if (ArePositive(base) && ArePositive(test)) {
    return {LogsOf(base), LogsOf(test), true, 0};
  }
  return {{base.begin(), base.end()}, {test.begin(), test.end()}, false, median_of_base};
}

RunSpread OwnSpread(const Values& base, const Values& test) {
  const Values groups[] = {base, test};
  return PooledSpread(groups);
}

// The spread of other runs, which is one of logarithms, or that of both sides, each around its own
// mean.
RunSpread KnownSpread(const ComparedValues& values, const RunSpread& history) {
  const RunSpread own = OwnSpread(values.base, values.test);
  return values.are_logs && history.df >= kFewestDegrees ? history
         : own.df >= kFewestDegrees                      ? own
                                                         : RunSpread{};
}

// Sets the ends of the interval, relative to the base or, if that is 0, in the unit of the metric.
void SetInterval(const ComparedValues& values, double low, double high, MetricComparison& result) {
  result.low = values.ShareOf(low);
  result.high = values.ShareOf(high);
  if (!result.low.has_value()) {
    result.low_amount = low;
    result.high_amount = high;
  }
}

// Tests by ranks, and returns the level of the test.
double TestByRanks(const ComparedValues& values, double alpha, MetricComparison& result) {
  result.by = ChangeTest::kRanks;
  result.worse_p = RankSumP(values.base, values.test);
  result.better_p = RankSumP(values.test, values.base);
  const Values differences = SortedDifferences(values.base, values.test);
  const RankLimit limit =
      RankLimitOf(values.base.size(), values.test.size(), alpha).value_or(RankLimit{0, alpha});
  SetInterval(values, differences[limit.outside],
              differences[differences.size() - 1 - limit.outside], result);
  return limit.level;
}

void TestByT(const ComparedValues& values, double shift, const RunSpread& spread, double alpha,
             MetricComparison& result) {
  const auto degrees = static_cast<double>(spread.df);
  const double runs =
      1 / static_cast<double>(values.base.size()) + 1 / static_cast<double>(values.test.size());
  const double error = spread.deviation * std::sqrt(runs);
  const double reach = StudentLimit(alpha, degrees) * error;
  result.by = ChangeTest::kT;
  SetInterval(values, shift - reach, shift + reach, result);
  const double no_spread = shift == 0 ? 0.5 : shift > 0 ? 0 : 1;
  result.worse_p = error > 0 ? StudentTail(shift / error, degrees) : no_spread;
  result.better_p = 1 - *result.worse_p;
}

// The deviation corrected to be too small as often as too large, as that of few runs is mostly too
// small (Wilson and Hilferty 1931).
RunSpread WithoutBias(RunSpread spread) {
  const double median = std::pow(1 - 2 / (9 * static_cast<double>(spread.df)), 3);
  spread.deviation /= std::sqrt(median);
  return spread;
}

void AddDetectable(const ComparedValues& values, const RunSpread& spread, double level,
                   double least, MetricComparison& result) {
  if (spread.df > 0 && values.are_logs) {
    const PlannedTest planned{static_cast<double>(values.base.size()),
                              static_cast<double>(values.test.size()), WithoutBias(spread), level,
                              std::log1p(least)};
    result.detectable = values.ShareOf(DetectableShift(planned));
  }
}

// All values of a side, and the largest distance between two values of one group (a run, or the
// side).
struct SideValues {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double noise = 0;

  void Add(double from, double to) {
    least = std::min(least, from);
    most = std::max(most, to);
  }
};

SideValues ValuesOfRuns(std::span<const RunNoise> runs) {
  SideValues side;
  for (const RunNoise& run : runs) {
    side.Add(run.value, run.value);
  }
  side.noise = side.most - side.least;
  return side;
}

// The steps of all runs; nullopt if one of the runs does not say how much its steps vary.
std::optional<SideValues> ValuesOfSteps(std::span<const RunNoise> runs) {
  SideValues side;
  for (const RunNoise& run : runs) {
    if (!run.least.has_value() || !run.most.has_value() || run.samples < kFewestSteps) {
      return std::nullopt;
    }
    side.Add(*run.least, *run.most);
    side.noise = std::max(side.noise, *run.most - *run.least);
  }
  return side;
}

// The distance between the nearest values of two sides; 0 or less if they overlap.
double GapBetween(const SideValues& a, const SideValues& b) {
  return std::max(b.least - a.most, a.least - b.most);
}

// Whether the interval excludes every change that matters.
bool IsSame(const MetricComparison& comparison, const ComparisonRules& rules) {
  if (comparison.change.has_value()) {
    return (rules.less_is_worse ? -*comparison.low : *comparison.high) < rules.least;
  }
  const double most = rules.less_is_worse ? -*comparison.low_amount : *comparison.high_amount;
  return most <= 0 || most < rules.least_amount;
}

}  // namespace

MetricComparison CompareRuns(std::span<const double> base, std::span<const double> test,
                             const RunSpread& history, const ComparisonRules& rules) {
  MetricComparison result;
  result.base = MedianOf({base.begin(), base.end()});
  result.test = MedianOf({test.begin(), test.end()});
  const ComparedValues values = ComparedOf(base, test, result.base);
  const double shift = ShiftBetween(values.base, values.test);
  result.change = values.ShareOf(shift);
  const RunSpread known = KnownSpread(values, history);
  if (SmallestRankSumP(base.size(), test.size()) <= rules.alpha * kRounding) {
    const double level = TestByRanks(values, rules.alpha, result);
    AddDetectable(values, OwnSpread(values.base, values.test), level, rules.least, result);
  } else if (known.df > 0) {
    TestByT(values, shift, known, rules.alpha, result);
    AddDetectable(values, known, rules.alpha, rules.least, result);
  }
  if (rules.less_is_worse) {
    std::swap(result.worse_p, result.better_p);
  }
  return result;
}

void AddIntervalOfSteps(std::span<const double> base, std::span<const double> test, double alpha,
                        MetricComparison& comparison) {
  const ComparedValues values = ComparedOf(base, test, comparison.base);
  const std::optional<ShiftInterval> interval = ShiftWithinRuns(values.base, values.test, alpha);
  if (interval.has_value() && values.ShareOf(0).has_value()) {
    comparison.low = values.ShareOf(interval->low);
    comparison.high = values.ShareOf(interval->high);
    comparison.is_within_runs = true;
  }
}

void CompareWithNoise(std::span<const RunNoise> base, std::span<const RunNoise> test,
                      const ComparisonRules& rules, MetricComparison& comparison) {
  const double change = std::abs(comparison.test - comparison.base);
  if (comparison.base <= 0 || change < rules.least * comparison.base) {
    return;
  }
  const bool has_runs = std::min(base.size(), test.size()) >= kFewestRuns;
  const std::optional<SideValues> of_base = has_runs ? ValuesOfRuns(base) : ValuesOfSteps(base);
  const std::optional<SideValues> of_test = has_runs ? ValuesOfRuns(test) : ValuesOfSteps(test);
  if (!of_base.has_value() || !of_test.has_value()) {
    return;
  }
  const double noise = std::max(of_base->noise, of_test->noise);
  comparison.noise = noise / comparison.base;
  // A factor below 1 is as large a change as its inverse.
  const double least = std::min(comparison.base, comparison.test);
  const bool is_beyond = (has_runs && change > kTimesNoise * noise) ||
                         (change > noise && change > kMostBetweenRuns * least);
  if (GapBetween(*of_base, *of_test) > 0 && is_beyond) {
    comparison.beyond = has_runs ? SeenNoise::kRuns : SeenNoise::kSteps;
  }
}

std::string_view ChangeTestName(ChangeTest test) {
  constexpr std::string_view kNames[] = {"", "ranks", "t"};
  return kNames[static_cast<size_t>(test)];
}

std::string_view VerdictName(Verdict verdict) {
  constexpr std::string_view kNames[] = {"same", "slower", "faster", "cannot tell",
                                         "new",  "gone",   "more",   "fewer"};
  return kNames[static_cast<size_t>(verdict)];
}

Verdict VerdictOf(const MetricComparison& comparison, const ComparisonRules& rules, double worse_p,
                  double better_p) {
  const double sign = rules.less_is_worse ? -1 : 1;
  const double amount = sign * (comparison.test - comparison.base);
  const double worse_by = sign * comparison.change.value_or(sign * amount);
  // No change is relative to a base of 0, so only the amount matters.
  const bool matters = std::abs(amount) >= rules.least_amount &&
                       (!comparison.change.has_value() || std::abs(worse_by) >= rules.least);
  const bool is_tested = comparison.by != ChangeTest::kNone;
  const bool is_beyond = comparison.beyond != SeenNoise::kNone;
  if (((is_tested && worse_p <= rules.alpha * kRounding) || is_beyond) && worse_by > 0 && matters) {
    return Verdict::kWorse;
  }
  if (((is_tested && better_p <= rules.alpha * kRounding) || is_beyond) && worse_by < 0 &&
      matters) {
    return Verdict::kBetter;
  }
  return is_tested && IsSame(comparison, rules) ? Verdict::kSame : Verdict::kCannotTell;
}

}  // namespace borescope::internal
