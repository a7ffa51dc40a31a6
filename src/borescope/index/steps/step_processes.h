// The processes that have steps, and whose steps the events of each thread and stream may belong
// to.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// The process of a host event.
int64_t ProcessOf(const Trace& trace, HostId row);

// Fills `processes` with those of the annotations, and `process_of` as far as tracks name their
// process: a stream that does not has kAnyProcess. A single process has all tracks.
void FindProcesses(const Trace& trace, const std::vector<HostId>& annotations, Steps& steps);

// The process of streams that do not name it, by the launches of the work on their device.
// REQUIRES: FindProcesses.
void FindProcessesOfDevices(const Trace& trace, const Correlation& correlation, Steps& steps);

// Counts the devices that several processes with steps may use: of idle time and of work without a
// recorded launch nothing shows whose it is (kSharedSteps).
void CountSharedSteps(const Trace& trace, const Steps& steps, Diagnostics& diagnostics);

}  // namespace borescope::internal
