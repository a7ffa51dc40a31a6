// The report, for the verbs that write or serve it.
#pragma once

#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/output.h"
#include "borescope/progress.h"

namespace borescope::cli {

// Writes the report that the command asks for, and says what became of the files.
Result<std::vector<FileInfo>> WriteReport(const Command& command, const Output& output);

// The same of some files of the folder that the command names, by their paths. Nothing is printed.
// Ends with kCancelled once `stop` is requested.
Result<std::vector<FileInfo>> WriteReportOf(const Command& command,
                                            const std::vector<std::string>& paths,
                                            const Output& output, const StopToken& stop);

}  // namespace borescope::cli
