// From the words of a question to runs: recordings, and values that were saved.
#pragma once

#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/check/budget.h"
#include "borescope/check/compare_metric.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
