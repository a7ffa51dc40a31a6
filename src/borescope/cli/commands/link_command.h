// The verb `link`.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

// Returns the exit status.
int RunLinkVerb(const Command& command);

}  // namespace borescope::cli
