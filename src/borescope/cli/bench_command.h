// The verb `bench-kernel`.
#pragma once

#include "borescope/cli/arguments.h"

namespace borescope::cli {

int RunBenchVerb(const Command& command);

}  // namespace borescope::cli
