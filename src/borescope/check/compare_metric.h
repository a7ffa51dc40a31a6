// Compares metrics between two groups of runs. The value of a metric in a run is one number, the
// usual value of its steps. A run is one execution of the program; its ranks and windows are parts
// of it.
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

// The kinds of metrics, in the order in which they are listed.
inline constexpr std::string_view kStepMetric = "step";      // from completion to completion
inline constexpr std::string_view kHostMetric = "host";      // of the window of a step on the host
inline constexpr std::string_view kDeviceMetric = "device";  // the parts of a step
inline constexpr std::string_view kClassMetric = "class";    // time by class of kernels
inline constexpr std::string_view kKernelMetric = "kernel";  // time by name of the kernel
inline constexpr std::string_view kCallsMetric = "calls";    // device work of a step, counted
inline constexpr std::string_view kBudgetMetric = "budget";  // the number of a budget

// Kind and name: ("class", "gemm").
using MetricKey = std::pair<std::string, std::string>;

// Names of metrics that are not classes or kernels.
inline constexpr std::string_view kBusyTime = "busy";              // of kDeviceMetric
inline constexpr std::string_view kCollectiveTime = "collective";  // of kClassMetric

struct MetricValue {
  double value = 0;
  Unit unit = Unit::kNanoseconds;
  int64_t samples = 0;             // steps, or rows of a budget
  std::vector<double> steps = {};  // the values of the steps, in order; empty for a saved run
  std::string definition = {};     // for a budget: DefinitionOf
  // The smallest and the largest sample, which show how much a run itself varies; nullopt for sums
  // and counts, and if unknown.
  std::optional<double> least = {};
  std::optional<double> most = {};
  // For a budget: as of BudgetValue.
  std::optional<double> rest = 0.0;
};

struct RunValues {
  std::string name;                      // as given by the user; the names of all windows
  std::vector<std::string> inputs = {};  // the same as a list; empty for a saved run
  std::string devices;                   // "8 x Tesla V100-SXM2-32GB"; empty if not recorded
  int64_t world_size = 0;                // 0: not recorded
  int64_t ranks = 0;
  int64_t windows = 1;               // recordings of one process that were joined
  int64_t steps = 0;                 // compared steps, without the first of each recording
  std::optional<double> step_flops;  // of matrix products, as far as shapes were recorded
  std::map<MetricKey, MetricValue> metrics;
};

// The values of a metric in several runs, in their order, without runs that lack it.
std::vector<double> ValuesOf(const std::vector<RunValues>& runs, const MetricKey& key);

// Why runs cannot be compared, in words: different devices, number of ranks or amount of work;
// empty if they can be. Properties that were not recorded in one of them are ignored.
std::string WhyNotComparable(const std::vector<RunValues>& base,
                             const std::vector<RunValues>& test);

// Whether a metric of a program got worse from one group of runs to another, with runs, not steps,
// as samples. docs/use/check.md says why, and what it costs to take steps instead. Pure; any
// thread.

// The test of a change.
enum class ChangeTest : uint8_t {
  kNone,   // too few runs, and unknown how much runs differ
  kRanks,  // by all labellings of the runs
  kT,      // by the spread of other runs of one program
};
std::string_view ChangeTestName(ChangeTest test);  // "ranks", "t"; empty for none

// The value of a run, and how much its steps vary, if known.
struct RunNoise {
  double value = 0;
  std::optional<double> least;
  std::optional<double> most;
  int64_t samples = 0;  // steps
};

// The observed noise that a change exceeds.
enum class SeenNoise : uint8_t {
  kNone,   // noise is unknown, or the change is within it
  kSteps,  // noise of steps within the runs, and of runs of other programs (kMostBetweenRuns)
  kRuns,   // noise of the runs of each side
};

struct ComparisonRules {
  double alpha =
      0.05;  // one-sided: the rate of false alarms, and the part beyond each end of the interval
  double least = 0.03;         // the smallest change that matters, relative to the base
  double least_amount = 1000;  // and in the unit of the metric (1 us)
  bool less_is_worse = false;
};

struct MetricComparison {
  double base = 0;  // medians of the runs
  double test = 0;
  ChangeTest by = ChangeTest::kNone;
  // The change from base to test, relative to base; nullopt if the base is 0.
  std::optional<double> change;
  std::optional<double> low;  // the interval of the change
  std::optional<double> high;
  std::optional<double> low_amount;  // the same in the unit of the metric, if the base is 0
  std::optional<double> high_amount;
  bool is_within_runs = false;    // the interval is that of steps, and must not decide
  std::optional<double> worse_p;  // one-sided
  std::optional<double> better_p;
  std::optional<double> detectable;     // the change that would be called worse in 4 of 5 cases
  SeenNoise beyond = SeenNoise::kNone;  // the change is larger than all noise of this kind
  double noise = 0;                     // the largest observed noise, relative to the base
};

// Single runs of an unchanged program differ by up to 34 % (host-bound programs on a noisy
// machine). A change that is only supported by steps within runs must be larger than this.
inline constexpr double kMostBetweenRuns = 0.35;

// Compares the logarithms of values if all are above 0, however small; else the values themselves,
// without `history`, which has logarithms. REQUIRES: neither side is empty, and no value is
// negative.
MetricComparison CompareRuns(std::span<const double> base, std::span<const double> test,
                             const RunSpread& history, const ComparisonRules& rules);

// Fills in the interval from the steps of one run on each side.
void AddIntervalOfSteps(std::span<const double> base, std::span<const double> test, double alpha,
                        MetricComparison& comparison);

// Finds out whether the change is larger than all observed noise. This is no test and has no level.
// With three or more runs on each side: every run of one side is beyond every run of the other, and
// the sides are three times as far apart as any two runs of one side, or farther apart than these
// and than kMostBetweenRuns. With fewer runs the last condition is applied to steps, of which each
// run needs three. REQUIRES: as CompareRuns.
void CompareWithNoise(std::span<const RunNoise> base, std::span<const RunNoise> test,
                      const ComparisonRules& rules, MetricComparison& comparison);

enum class Verdict : uint8_t { kSame, kWorse, kBetter, kCannotTell, kNew, kGone, kMore, kFewer };
std::string_view VerdictName(Verdict verdict);  // "slower" for kWorse: metrics are times

// The verdict of a change that was tested, or is larger than all noise. `worse_p` and `better_p`:
// those of the comparison, or corrected for several tests.
Verdict VerdictOf(const MetricComparison& comparison, const ComparisonRules& rules, double worse_p,
                  double better_p);

}  // namespace borescope::internal
