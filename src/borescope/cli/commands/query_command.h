// The verb query: statements from the command line, or from standard input.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

// Returns the exit status.
int RunQuery(const Command& command);

}  // namespace borescope::cli
