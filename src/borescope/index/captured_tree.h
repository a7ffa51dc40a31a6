// The call tree of captured rows (CapturedCalls).
#pragma once

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// Adds the captured rows of the host events to the tree of those of the recording. Neither is in
// the other. O(captured rows).
void AppendCaptured(const Trace& trace, CallTree& tree);

}  // namespace borescope::internal
