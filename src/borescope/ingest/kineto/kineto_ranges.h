// Profiler ranges: converts the hardware counters of "cuda_profiler_range" events.
#pragma once

#include <cstdint>

#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Adds a row to the ranges of `part`, with every number in the event's args as a metric, in their
// order. Of metrics with one name the last one counts. Returns the row. Members that are not
// numbers are counted in the diagnostics of `values`; null means not recorded.
uint32_t AddProfilerRange(const RawEvent& event, EventValues& values, TracePart& part);

}  // namespace borescope::internal
