// The verb `chakra`, whose first word says what to do.
#pragma once

#include <string_view>

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

// Returns the exit status: kCheckFailed where `chakra check` found something a simulator cannot
// live with.
int RunChakraVerb(const Command& command);

}  // namespace borescope::cli
