// The report: every analysis that makes a section of it, asked in one load of each file.
#pragma once

#include <vector>

#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/output/digest/digest.h"
#include "borescope/output/html/html.h"
#include "borescope/question.h"
#include "borescope/run.h"

namespace borescope::internal {

struct Report {
  ReportPage page;
  ReportDigest digest;          // in short, of all rows
  std::vector<FileInfo> files;  // in the order of RunOptions::files
};

// The report of a run whose partials answer it (QuestionOfReport), as RunReport makes it of the
// files in the natural order of their paths. Of `options` it takes `top` and `stop`.
// kInvalidArgument for partials of another question; else errors as those of JoinPartials and
// RunReport.
Result<Report> ReportOfPartials(PartSource& source, const RunOptions& options,
                                const JoinOptions& join = {});

// What each section shows, or what to record for it. Of `options` it takes the files, ranks,
// selection, threads, memory limit, progress and `top`: the rows kept of each table, which are
// otherwise as many as make a page that can be mailed. `test.files`, if any, are those of an
// earlier run: one more section shows what changed since (the verb diff). Errors as those of
// RunAnalyses, but for what is missing in the files.
Result<Report> RunReport(const RunOptions& options);

}  // namespace borescope::internal

namespace borescope {

// Options of RunReport for these runs, which outlive them. kInvalidArgument for a parameter that a
// report does not take.
Result<void> SetReportOptions(const Run& run, const Question& question, const Run* against,
                              internal::RunOptions& options);

}  // namespace borescope
