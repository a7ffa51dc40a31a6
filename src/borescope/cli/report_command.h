// `borescope report`: one HTML page about a run.
#pragma once

#include "borescope/cli/arguments.h"

namespace borescope::cli {

// Returns the exit status.
int RunReportVerb(const Command& command);

}  // namespace borescope::cli
