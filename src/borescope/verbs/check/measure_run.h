// One run, measured: the values that are compared, and what shows whether two recordings are of one
// process.
#pragma once

#include <string>
#include <vector>

#include "borescope/check/budget.h"
#include "borescope/check/compare_metric.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/verbs/check/run_questions.h"

namespace borescope::internal {

struct MeasuredRun {
  RunValues values;
  std::vector<FileInfo> files;
  std::vector<Diagnostic> diagnostics;
  int64_t device_events = 0;
  // Of the first rank, with the first and last of its steps; nothing where they were not recorded,
  // or where no other run is there to be joined with.
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

}  // namespace borescope::internal
