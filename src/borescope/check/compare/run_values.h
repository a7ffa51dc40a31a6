// What is compared of a run: for each metric one number, the usual value of its steps. A run is one
// execution of the program; its ranks and windows are parts of it. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/table/table.h"

namespace borescope::internal {

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
inline constexpr std::string_view kBusyTime = "busy";           // of kDeviceMetric
inline constexpr std::string_view kCollectives = "collective";  // of kClassMetric

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

}  // namespace borescope::internal
