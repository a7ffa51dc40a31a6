// Whether a metric of a program got worse from one group of runs to another: the unit is the run.
// docs/use/check.md says why, and what it costs to take steps instead. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "borescope/check/statistics/run_statistics.h"

namespace borescope::internal {

// By what a change was tested.
enum class ChangeTest : uint8_t {
  kNone,   // too few runs, and nothing known of how much runs differ
  kRanks,  // every labelling of the runs
  kT,      // the spread of other runs of one program
};
std::string_view ChangeTestName(ChangeTest test);  // "ranks", "t"; empty for none

// The values of a run, and how much its steps vary, where that is known.
struct RunNoise {
  double value = 0;
  std::optional<double> least;
  std::optional<double> most;
  int64_t samples = 0;  // steps
};

// The noise that was seen, and whether a change is larger than any of it.
enum class SeenNoise : uint8_t {
  kNone,   // nothing is known of noise, or the change is within it
  kSteps,  // of steps within the runs, and of runs of other programs: kMostBetweenRuns
  kRuns,   // of the runs of each side
};

struct ComparisonRules {
  double alpha = 0.05;         // one-sided: of false alarms, and beyond either end of the interval
  double least = 0.03;         // a change that matters, as a part of the base
  double least_amount = 1000;  // and in the unit of the metric: 1 us
  bool less_is_worse = false;
};

struct MetricComparison {
  double base = 0;  // medians of the runs
  double test = 0;
  ChangeTest by = ChangeTest::kNone;
  // Of test against base, as a part of base; nothing where the base is 0.
  std::optional<double> change;
  std::optional<double> low;  // the interval of the change
  std::optional<double> high;
  std::optional<double> low_amount;  // and where the base is 0, in the unit of the metric
  std::optional<double> high_amount;
  bool is_within_runs = false;    // the interval is that of steps: nothing follows from it
  std::optional<double> worse_p;  // one-sided
  std::optional<double> better_p;
  std::optional<double> detectable;     // that would be called worse in 4 of 5 cases
  SeenNoise beyond = SeenNoise::kNone;  // the change is larger than any noise of this kind
  double noise = 0;                     // the largest that was seen, as a part of the base
};

// Single runs of one unchanged program differ by up to 34 % (programs that the host limits, on a
// noisy machine). A change that only steps within the runs speak for must be larger.
inline constexpr double kMostBetweenRuns = 0.35;

// Values above 0, however small, are compared by their logarithms; where one of them is 0, all are
// compared as they are, and `history`, which is of logarithms, says nothing. REQUIRES: neither is
// empty, and no value is negative.
MetricComparison CompareRuns(std::span<const double> base, std::span<const double> test,
                             const RunSpread& history, const ComparisonRules& rules);

// Fills in the interval within the runs, of a run on each side: their steps.
void AddIntervalOfSteps(std::span<const double> base, std::span<const double> test, double alpha,
                        MetricComparison& comparison);

// Finds out whether the change is larger than any noise that was seen; no test, and no level. With
// three runs a side or more: every run of one side lies beyond every run of the other, and the
// sides are three times as far apart as any two runs of one side, or farther than these and than
// kMostBetweenRuns. With fewer the latter of steps, of which a run has three or more. REQUIRES: as
// CompareRuns.
void CompareWithNoise(std::span<const RunNoise> base, std::span<const RunNoise> test,
                      const ComparisonRules& rules, MetricComparison& comparison);

enum class Verdict : uint8_t { kSame, kWorse, kBetter, kCannotTell, kNew, kGone, kMore, kFewer };
std::string_view VerdictName(Verdict verdict);  // "slower" for kWorse: metrics are times

// What was tested, and what is larger than any noise, has a verdict. `worse_p` and `better_p` are
// those of the comparison, or those corrected for several.
Verdict VerdictOf(const MetricComparison& comparison, const ComparisonRules& rules, double worse_p,
                  double better_p);

}  // namespace borescope::internal
