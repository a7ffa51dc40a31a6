// The report, for the verbs that write or serve it.
#pragma once

#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/output.h"

namespace borescope::cli {

// Writes the report that the command asks for, and says what happened to the files.
Result<std::vector<FileInfo>> WriteReport(const Command& command, const ReportOutputs& outputs);

}  // namespace borescope::cli
