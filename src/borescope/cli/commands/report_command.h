// `borescope report`: one HTML page about a run.
#pragma once

#include "borescope/base/result.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/verbs/report/report.h"

namespace borescope::internal::cli {

// Returns the exit status.
int RunReportVerb(const Command& command);

// The report that the options of the verb ask for; what there is to say about its files is said.
Result<Report> MakeReport(const Command& command);

}  // namespace borescope::internal::cli
