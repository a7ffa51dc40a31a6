// A trace as Chrome trace JSON of PyTorch's profiler: {"traceEvents": [...]}.
#pragma once

#include "borescope/convert/convert.h"

namespace borescope::internal {

// Writes in pieces; memory does not grow with the trace. Also draws what no event says: a flow from
// every launch to its device work, the depth of every stream's queue, whether each GPU works, and
// what monitors read. Of several traces, the names of processes and GPUs begin with that of their
// trace; rank and job are left out. Errors are those of the sink.
std::unique_ptr<ConvertWriter> OpenChrome(Sink& sink);
Result<ConvertCounts> WriteChrome(const ConvertInput& input, Sink& sink);

}  // namespace borescope::internal
