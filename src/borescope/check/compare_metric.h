#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/check/run_statistics.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// What is compared of a run: for each metric one number, the usual value of its steps. A run is one
// execution of the program; its ranks and windows are parts of it. Plain values.

// The kinds of metrics, in the order in which they are shown.
inline constexpr std::string_view kStepMetric = "step";      // from completion to completion
inline constexpr std::string_view kHostMetric = "host";      // of the window of a step on the host
inline constexpr std::string_view kDeviceMetric = "device";  // of the parts of a step
inline constexpr std::string_view kClassMetric = "class";    // of kernels
inline constexpr std::string_view kKernelMetric = "kernel";  // by name
inline constexpr std::string_view kCallsMetric = "calls";    // device work of a step, counted
inline constexpr std::string_view kBudgetMetric = "budget";  // that a budget is about

// The kind, and what of it: ("class", "gemm").
using MetricKey = std::pair<std::string, std::string>;

// Names of metrics, beside those of classes and kernels.
inline constexpr std::string_view kBusyTime = "busy";              // of kDeviceMetric
inline constexpr std::string_view kCollectiveTime = "collective";  // of kClassMetric

struct MetricValue {
  double value = 0;
  Unit unit = Unit::kNanoseconds;
  int64_t samples = 0;             // steps, or rows of a budget
  std::vector<double> steps = {};  // the values of the steps, in order; empty for a saved run
  std::string definition = {};     // of a budget: DefinitionOf
  // The smallest and the largest of these, which show how much a run itself varies; nothing of
  // sums and counts, and where it is not known.
  std::optional<double> least = {};
  std::optional<double> most = {};
};

struct RunValues {
  std::string name;                      // as it was named; of several windows all names
  std::vector<std::string> inputs = {};  // the same as a list; empty for a saved run
  std::string devices;     // "8 x Tesla V100-SXM2-32GB"; empty where it was not recorded
  int64_t world_size = 0;  // 0: it was not recorded
  int64_t ranks = 0;
  int64_t windows = 1;               // recordings of one process that were joined
  int64_t steps = 0;                 // that were compared, the first of each recording dropped
  std::optional<double> step_flops;  // of matrix products, as far as shapes were recorded
  std::map<MetricKey, MetricValue> metrics;
};

// Values of a metric of several runs, in their order; of those that have it.
std::vector<double> ValuesOf(const std::vector<RunValues>& runs, const MetricKey& key);

// What keeps runs from being compared: other devices, another number of ranks, another amount of
// work; in words, empty where nothing does. What was not recorded of one of them is not compared.
std::string WhyNotComparable(const std::vector<RunValues>& base,
                             const std::vector<RunValues>& test);

// Whether a metric of a program got worse from one group of runs to another: the unit is the run.
// docs/use/check.md says why, and what it costs to take steps instead. Pure; any thread.

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
