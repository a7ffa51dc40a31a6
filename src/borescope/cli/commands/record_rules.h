// The options of `borescope record` that say which part of a program is recorded.
#pragma once

#include "borescope/cli/options/options.h"
#include "borescope/cli/usage_error.h"
#include "borescope/record.h"

namespace borescope::cli {

// --start, --stop, --for, --repeat and --children. Every error names the option, its value and what
// it may be.
Result<void> UnderstandRules(const RawOptions& raw, RecordOptions& options);

}  // namespace borescope::cli
