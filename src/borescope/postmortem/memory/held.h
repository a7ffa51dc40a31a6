// What a device's allocator holds after each event of a replay, for tables and charts over time.
// Pure: safe from any thread.
#pragma once

#include <cstdint>

#include "borescope/base/column_data.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::postmortem {

// Bytes, by event. The first of each is what there was before the first event: event i has number
// i + 1.
struct HeldMemory {
  ColumnData<int64_t> allocated;  // blocks in use
  ColumnData<int64_t> reserved;   // segments
};

// What an event adds to the segments of the allocator, or takes from them.
int64_t ReservedBy(const MemoryEvent& event);

// REQUIRES: the replay was possible. Sums of what is recorded, so that the last of each is what the
// replay has at its end.
HeldMemory HeldAfterEach(const DeviceMemory& device, const Replay& replay);

}  // namespace borescope::internal::postmortem
