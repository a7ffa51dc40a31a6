// A trace as Perfetto's own protobuf (TracePacket, TrackEvent): smaller than JSON, exact times, and
// no two slices of a line overlap.
#pragma once

#include "borescope/convert/convert.h"

namespace borescope {

// Times are the trace's nanoseconds; where it begins before 0, which the format cannot say, all are
// moved to begin at 0. Errors are those of the sink.
Result<ConvertCounts> WritePerfetto(const ConvertInput& input, Sink& sink);

}  // namespace borescope
