#pragma once

#include <cstdint>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/hta/events.h"

namespace borescope::internal {

// What HTA's critical path finds out about launches and CUDA events in the whole rank, not only in
// the window: how many launches wait on a stream, which launch an event was recorded behind, and
// which one a stream's wait for an event holds up.

// Length of the queue of its stream right after a launch, and right after its work began; per row,
// kMissing for all others.
std::vector<int64_t> QueueLengths(const HtaEvents& events);

// By correlation number of a call of cudaEventRecord: the last launch before it on the stream and
// device that a wait for the event names. Without an entry there is none, or nothing waits.
HashMap<int64_t, HtaEventRow> LaunchesBeforeRecords(const HtaEvents& events);

// By call of cudaStreamWaitEvent: the next launch of its thread on its stream; kNoHtaEvent if none.
HashMap<HtaEventRow, HtaEventRow> LaunchesAfterWaits(const HtaEvents& events);

}  // namespace borescope::internal
