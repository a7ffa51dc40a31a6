// The part of trace_checks.h that is about indexes.
#pragma once

#include <string_view>

#include "borescope/index/trace_index.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What is wrong first; empty where nothing is. Each is O(rows) and expects that FaultOfTrace has
// found the shapes of both right. The call tree; what launched what; the steps; all else.
std::string_view CallTreeFault(const Trace& trace, const TraceIndex& index);
std::string_view CorrelationFault(const Trace& trace, const TraceIndex& index);
std::string_view StepsFault(const Trace& trace, const TraceIndex& index);
std::string_view NamesFault(const Trace& trace, const TraceIndex& index);

// Whether the columns of the index have a row for each of the trace.
bool HasRowsOf(const Trace& trace, const TraceIndex& index);

}  // namespace borescope::internal
