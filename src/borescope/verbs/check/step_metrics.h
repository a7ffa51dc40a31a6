// The metrics of a run by step, from the tables of analyses. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/check/compare_metric.h"

namespace borescope::internal {

// Numbers of steps of a run.
struct RunSteps {
  std::set<int64_t> compared;  // all but the first of each rank, unless there is one only
};

// Of the table `steps`.
RunSteps StepsToCompare(const Table& steps);

// The time of each step, from completion to completion, and that of its window on the host: of its
// slowest rank.
void AddStepTimes(const Table& steps, const RunSteps& compared, RunValues& run);

// Of the table `steps`: how many kernels and copies a step of the mean rank has.
void AddCalls(const Table& steps, const RunSteps& compared, RunValues& run);

// Of the table `breakdown` by step: the mean of ranks and devices.
void AddDeviceParts(const Table& breakdown, const RunSteps& compared, RunValues& run);

// Device time in a step, of the mean rank: the tables `kernel_classes` or `kernels` by step, whose
// column `key` names what it is of.
void AddWorkTimes(const Table& table, std::string_view kind, std::string_view key,
                  const RunSteps& compared, RunValues& run);

// Sets the value of each metric to the mean of its steps without the largest of three or more (of
// calls to their median), and how much they vary.
void SetValues(RunValues& run);

}  // namespace borescope::internal
