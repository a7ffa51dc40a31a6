// What to do so that the next recording has what this one lacks.
#pragma once

#include <string_view>

#include "borescope/trace/missing_data.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// A phrase without a full stop. Empty for kNone, and for recordings of PyTorch's profiler, whose
// advice is part of the checks, unless the recording itself shows the reason.
std::string_view RemedyFor(MissingData lack, const Trace& trace);

}  // namespace borescope::internal
