// A trace as Chrome trace JSON of PyTorch's profiler: {"traceEvents": [...]}.
#pragma once

#include "borescope/convert/convert.h"

namespace borescope::internal {

// Writes in pieces, so memory does not grow with the trace. Also adds what is not an event: a flow
// from every launch to its device work, the depth of every stream's queue, whether each GPU works,
// and what monitors measured. With several traces, the names of processes and GPUs begin with that
// of their trace, and rank and job are left out. Errors are those of the sink.
std::unique_ptr<ConvertWriter> OpenChrome(Sink& sink);
Result<ConvertCounts> WriteChrome(const ConvertInput& input, Sink& sink);

}  // namespace borescope::internal
