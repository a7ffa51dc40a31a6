// check: whether a run keeps its budgets, and whether it is slower than a baseline.
// docs/use/check.md has the rules; the statistics are in check/.
#pragma once

#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/check.h"
#include "borescope/check/judge.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/output/html/html.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

struct CheckRequest : CheckOptions {
  std::vector<std::string> runs = {};  // each a file, a folder or a glob, and one run
  // The question to each run, but for its files: selection, threads, memory, stop.
  RunOptions run = {};
};

struct CheckedRuns {
  JudgedCheck outcome;
  Document document;            // the tables, and what was odd in the recordings
  std::vector<FileInfo> files;  // of all runs that were read
};

// Writes the files that are asked for, each complete or not at all, and none where there is an
// error: kInvalidArgument for wrong options, budget files and runs that cannot be compared, else
// those of RunAnalyses.
Result<CheckedRuns> RunCheck(const CheckRequest& options);

// The tables of an answer, without rows.
std::vector<Table> CheckShape();

// The page of a check, and what of its tables is drawn. Pure functions.

// The limits of budgets with the values held against them, and the changes with their intervals;
// nothing of what the outcome does not hold.
std::vector<ViewSpec> CheckViews(const JudgedCheck& outcome);

// As a report has it, with one section, whose summary is the result. `runs`: as they were named,
// the first gives the title.
ReportPage PageOfCheck(const std::vector<std::string>& runs, const JudgedCheck& outcome,
                       const Document& document);

}  // namespace borescope::internal
