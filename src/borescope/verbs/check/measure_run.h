// One run, measured: the values that are compared, and what shows whether two recordings are of one
// process.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/check/budget.h"
#include "borescope/check/compare_metric.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/verbs/check/parts_of_runs.h"

namespace borescope::internal {

struct MeasuredRun {
  RunValues values;
  std::vector<FileInfo> files;
  std::vector<Diagnostic> diagnostics;
  int64_t device_events = 0;
  // The window of the first rank, and the first and last of its steps; nothing if they were not
  // recorded, or if there is no other run to be joined with.
  RecordedWindow window;
  bool has_steps = false;
  int64_t first_step = 0;
  int64_t last_step = 0;
};

struct MeasureOptions {
  const BudgetFile* file = nullptr;
  std::vector<const AnalysisSpec*> verbs;  // of its budgets
  bool for_comparison = false;             // steps, classes and kernels are wanted
  bool is_one_of_several = false;          // which may be windows of one process
  bool needs_steps = false;                // without steps there is nothing to compare
};

// Errors as those of RunAnalyses.
Result<MeasuredRun> MeasureRun(const std::string& name, RunQuestions& asked,
                               const MeasureOptions& measure);

// Windows of one process are one run: recordings of one rank with the same process and devices that
// overlap or follow each other within a second, by the clock on the wall, or whose steps follow
// each other. Steps are put together; of a budget the values of all windows are reduced once, as
// docs/use/check.md says. Two runs in containers may have the same number of a process, but record
// the same steps at other times. The order of `runs` changes nothing but the order of the result.
std::vector<MeasuredRun> JoinWindows(std::vector<MeasuredRun> runs, const BudgetFile& file);

// The metrics of a run by step, from the tables of analyses. Pure.

// Numbers of steps of a run.
struct RunSteps {
  std::set<int64_t> compared;  // all but the first of each rank, unless there is one only
};

// The steps of the table `steps` that are compared.
RunSteps StepsToCompare(const Table& steps);

// The time of each step, from completion to completion, and that of its window on the host: of its
// slowest rank.
void AddStepTimes(const Table& steps, const RunSteps& compared, RunValues& run);

// Adds how many kernels and copies a step of the mean rank has, from the table `steps`.
void AddCalls(const Table& steps, const RunSteps& compared, RunValues& run);

// Adds the mean of ranks and devices, from the table `breakdown` by step.
void AddDeviceParts(const Table& breakdown, const RunSteps& compared, RunValues& run);

// Device time in a step, of the mean rank: the tables `kernel_classes` or `kernels` by step, whose
// column `key` names what it is of.
void AddWorkTimes(const Table& table, std::string_view kind, std::string_view key,
                  const RunSteps& compared, RunValues& run);

// Sets the value of each metric to the mean of its steps without the largest of three or more (of
// calls to their median), and how much they vary.
void SetValues(RunValues& run);

}  // namespace borescope::internal
