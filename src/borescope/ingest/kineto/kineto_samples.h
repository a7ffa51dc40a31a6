// Monitor samples, as `borescope convert` writes them: counters of the category
// "monitor,TYPE,DEVICE" with one value, which holds for "dur".
#pragma once

#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Adds a row to the samples of `part` if the counter is one. Counters without a time or a value are
// counted in the diagnostics of `values`.
void AddMonitorSample(const RawEvent& event, EventValues& values, TracePart& part);

}  // namespace borescope::internal
