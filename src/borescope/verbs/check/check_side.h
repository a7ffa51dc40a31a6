// One side of a check, read: its runs as recordings, as parts, or as values that were saved.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/check/budget.h"
#include "borescope/check/compare_metric.h"
#include "borescope/verbs/check/check_run.h"
#include "borescope/verbs/check/measure_run.h"
#include "borescope/verbs/check/parts_of_runs.h"

namespace borescope::internal {

struct Side {
  std::vector<MeasuredRun> measured;
  std::vector<std::vector<RunValues>> saved;  // a group for each file
  std::string first_run;  // of those that were measured, as it was named; empty: none

  std::vector<RunValues> AllValues() const;
  // Files that hold several runs are groups of their own; single runs are one group together.
  std::vector<std::vector<RunValues>> Groups() const;
};

// Each of `inputs` is a run, or parts of runs; parts of one division that are named one by one are
// together what their folder is. `parameter` is where they were named, empty for the runs
// themselves. Errors name it.
Result<Side> ReadSide(const std::vector<std::string>& inputs, std::string_view parameter,
                      const CheckRequest& options, const MeasureOptions& measure);

// From the words of a question to runs: recordings, and values that were saved.

// The values in the file `path`, or in the files of a folder; empty where it is none of these but
// recordings. Errors name the file.
Result<std::vector<std::vector<RunValues>>> SavedRunsAt(const std::string& path);

// kInvalidArgument where two inputs of one side are, or hold, one file, by its place or by its
// content: a run that counts twice makes a difference look certain. Files of equal size are read.
Result<void> CheckNoneTwice(const std::vector<std::string>& inputs, std::string_view parameter);

// The budgets of the file at `path`; empty: none. Errors name the line.
Result<BudgetFile> ReadBudgetAt(const std::string& path);

// A text file of at most `most` bytes.
Result<std::string> ReadSmallFile(const std::string& path, size_t most);

// Which words of a check name parts of runs, and which parts belong together.

// What one word leads to, and perhaps others after it.
struct RunInput {
  std::string name;
  std::optional<PartsOfRuns> parts;  // nothing: recordings, or values that were saved
};

// In the order of the words. A word that leads to a part is no recording, whatever else is beside
// it in a folder. Parts of one division that lie in one folder are joined where their words are
// files: a shell has made several words of one glob. Errors as those of ParsePartial and
// PartsOfRuns::Join.
Result<std::vector<RunInput>> FindRunInputs(const std::vector<std::string>& inputs);

}  // namespace borescope::internal
