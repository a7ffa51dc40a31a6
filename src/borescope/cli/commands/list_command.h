// The verb `list`.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

// Returns the exit status.
int RunListVerb(const Command& command);

}  // namespace borescope::cli
