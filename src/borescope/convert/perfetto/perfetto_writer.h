// A trace as Perfetto's own protobuf (TracePacket, TrackEvent): smaller than JSON, exact times, and
// no two slices of a line overlap.
#pragma once

#include "borescope/convert/convert.h"

namespace borescope::internal {

// Times are the trace's nanoseconds; if the first trace begins before 0, which the format cannot
// represent, all times are moved so that it begins at 0. With several traces, the names of
// processes and GPUs begin with that of their trace. Errors are those of the sink, and
// kInvalidArgument for a trace that begins before the first one, and before 0.
std::unique_ptr<ConvertWriter> OpenPerfetto(Sink& sink);
Result<ConvertCounts> WritePerfetto(const ConvertInput& input, Sink& sink);

}  // namespace borescope::internal
