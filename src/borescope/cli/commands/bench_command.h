// The verb `bench-kernel`.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

int RunBenchVerb(const Command& command);

}  // namespace borescope::cli
