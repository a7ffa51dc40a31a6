// All events of a trace as one CSV file, one line for each event.
#pragma once

#include "borescope/convert/convert.h"

namespace borescope::internal {

// Columns: side (host, device, memory, monitor), kind, name, ts_ns, dur_ns, pid and tid of a
// thread, device and stream, correlation, external_id, bytes (copies and allocations), value
// (monitors). What was not recorded is empty. Times are those of the trace's clock. Errors are the
// sink's.
std::unique_ptr<ConvertWriter> OpenEventsCsv(Sink& sink);
Result<ConvertCounts> WriteEventsCsv(const ConvertInput& input, Sink& sink);

}  // namespace borescope::internal
