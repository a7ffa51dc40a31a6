// Whether all numbers of a trace lead somewhere: what code that reads traces relies on, and what
// TraceBuilder and BuildIndex ensure. For traces from files that anybody may have changed.
#pragma once

#include <optional>
#include <string>

#include "borescope/index/trace_index.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What is wrong first; nothing for a trace as TraceBuilder and BuildIndex make it. O(rows).
// REQUIRES: no captured calls.
std::optional<std::string> FaultOfTrace(const Trace& trace, const TraceIndex& index, int threads);

}  // namespace borescope::internal
