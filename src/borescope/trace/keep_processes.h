// Some of the processes of a recording, as if the others had not been recorded.
#pragma once

#include <cstdint>
#include <functional>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// Leaves out the threads and streams of processes that `keeps` does not name, and what happened on
// them. Streams whose process is not recorded stay, and so does what belongs to none: samples of
// monitors, and the counts of the file's events. O(rows). REQUIRES: nothing is captured.
void KeepProcesses(TraceData& data, const std::function<bool(int64_t process)>& keeps);

}  // namespace borescope::internal
