// Launch calls that wait because the queue of their stream is full: a device takes a limited number
// of launches ahead of its work (1022 to 1024 for CUDA), and a call beyond them returns when the
// work that is next in line has started.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/index/clocks/device_clocks.h"

namespace borescope::internal {

// A launch call that needs a place in the queue of its stream.
struct QueuedCall {
  HostId call;
  DeviceId frees;         // the work whose start frees the place
  int64_t usual_ns = 0;   // how long calls of this name take where there is room
  bool was_full = false;  // whether it waited for the place in the recording
};

// By stream, then launch. Streams whose queue was never longer than kFullQueue have none: how many
// launches they take is not known from the recording. O(rows log rows).
std::vector<QueuedCall> FindQueuedCalls(const RankView& view, const DeviceClocks& clocks);

// A shorter queue says nothing about the limit.
inline constexpr size_t kFullQueue = 500;

}  // namespace borescope::internal
