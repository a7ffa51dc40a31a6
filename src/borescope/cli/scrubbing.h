// --scrub: what a command reads instead of its inputs.
#pragma once

#include <optional>

#include "borescope/cli/options/options.h"
#include "borescope/cli/usage_error.h"
#include "borescope/scrub.h"

namespace borescope::cli {

// What the options ask for; nothing without --scrub. Errors are about usage.
Result<std::optional<ScrubOptions>> ParseScrub(const RawOptions& raw);

// With --scrub, copies of everything that the command reads, whose paths take the place of the
// inputs in `raw`; they must live as long as these are read.
Result<std::optional<ScrubbedCopies>> ScrubInputs(RawOptions& raw,
                                                  const ProgressCallback& progress);

}  // namespace borescope::cli
