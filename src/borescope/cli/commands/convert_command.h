// The verb `convert`.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

// Returns the exit status.
int RunConvertVerb(const Command& command);

}  // namespace borescope::cli
