// What is selected of a file that holds a part of a recording (trace/recorded_cut.h).
#pragma once

#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What `asked` selects of the recording, and inside of the part that the file was cut to. Steps by
// another pattern than those of the part have other numbers, so that its steps do not limit them.
// Unchanged for a whole recording. kMissingData, naming the file and the part, where nothing is
// left.
Result<Selection> WithinCut(const Selection& asked, const Trace& trace);

}  // namespace borescope::internal
