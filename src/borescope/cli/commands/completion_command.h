// The verb `completion`.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

// Returns the exit status.
int RunCompletionVerb(const Command& command);

}  // namespace borescope::cli
