// Links an execution trace with a loaded trace of the profiler. What is done and why it differs
// from the reference stands in docs/use/chakra.md.
#pragma once

#include "borescope/base/result.h"
#include "borescope/index/trace_index.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/packs/chakra/link/link_plan.h"
#include "borescope/trace/trace.h"

namespace borescope::internal::chakra {

// The trace must outlive the plan, which shows its names. kMissingData where nothing is in both.
// O((nodes + events) log events).
Result<LinkPlan> LinkTrace(const HostTrace& host, const Trace& trace, const TraceIndex& index);

}  // namespace borescope::internal::chakra
