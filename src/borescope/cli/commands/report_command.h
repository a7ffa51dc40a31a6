// The report, for the verbs that write or serve it.
#pragma once

#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/output.h"
#include "borescope/progress.h"
#include "borescope/serve.h"

namespace borescope::cli {

// Writes the report that the command asks for, and says what happened to the files.
Result<std::vector<FileInfo>> WriteReport(const Command& command, const ReportOutputs& outputs);

// The page of the same, to be served, with finer detail of what is kept in memory of the
// recordings. Says what happened to the files.
Result<ServedReport> MakeReport(const Command& command);

// The same of some files of the folder that the command names, by their paths. Nothing is printed.
// Ends with kCancelled once `stop` is requested.
Result<ServedReport> MakeReportOf(const Command& command, const std::vector<std::string>& paths,
                                  const StopToken& stop);

}  // namespace borescope::cli
