// Profiler ranges: what the hardware counters of "cuda_profiler_range" events become.
#pragma once

#include <cstdint>

#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Adds a row to the ranges of `part`, with every number in the event's args as a metric, in their
// order. Of metrics of one name the last one counts. Returns the row. Members that are no number
// are counted in the diagnostics behind `values`, null is just not recorded.
uint32_t AddProfilerRange(const RawEvent& event, EventValues& values, TracePart& part);

}  // namespace borescope::internal
