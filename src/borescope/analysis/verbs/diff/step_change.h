// The answer of `diff`: what a step takes in both runs, which parts of its time make the
// difference, and that in one sentence. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/verbs/diff/changes.h"
#include "borescope/analysis/verbs/diff/run_sums.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// A part of the time of a step, or of what else runs are compared by; the first one is the whole.
struct TimeChange {
  std::string_view part = {};
  int64_t base_ns = 0;
  int64_t test_ns = 0;
};

// How much steps of one run differ among themselves. `steps` is how many there are of each rank, as
// the ranks of a run take their steps together; the deviation, of a sample, is that of all of them.
struct StepSample {
  int64_t steps = 0;
  double stddev_ns = 0;
};

// How far the means of two samples may be apart by chance: half of the 95 % interval of their
// difference (Welch 1947), with quantiles of Student's t. Missing where a run has fewer than two
// steps, which say nothing about that.
std::optional<double> ChanceOf(const StepSample& base, const StepSample& test);

// "35.7 ms against 67.1 ms a step, 1.88 times faster; of the 31.4 ms: 53.0 ms less compute, 21.6 ms
// more idle". All times have the same decimals, each is rounded by itself, as tables do it, and
// there are as many decimals as it takes for the difference to be that of the two times that are
// named, and for the parts to add up to it. The largest part comes first; parts that are nothing
// are left out. A difference of steps that chance explains (`base`, `test`) is said to be that.
// REQUIRES: `changes` has the whole, then parts that add up to it, in both runs.
std::string SentenceOf(std::span<const TimeChange> changes, std::string_view unit,
                       const StepSample& base = {}, const StepSample& test = {});

struct StepChange {
  Table table;           // diff_time: the whole and its parts, with that sentence as title
  int64_t whole_ns = 0;  // of the run that takes longer
};

// The mean of a part is cut so that the parts add up to the whole. Without rows where a run has no
// time of a device.
StepChange CompareSteps(const std::vector<DeviceTimeRow>& base,
                        const std::vector<DeviceTimeRow>& test, const RunUnits& units);

}  // namespace borescope::internal
