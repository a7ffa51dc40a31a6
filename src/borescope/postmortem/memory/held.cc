#include "borescope/postmortem/memory/held.h"

#include <algorithm>
#include <limits>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal::postmortem {
namespace {

int64_t SignedBytes(uint64_t bytes) {
  return static_cast<int64_t>(
      std::min<uint64_t>(bytes, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

// By how much the bytes of blocks in use change: a block is in use until its free is requested, or
// completed where no request was recorded.
int64_t ChangeOfAllocated(const DeviceMemory& device, const Replay& replay, uint32_t i) {
  const MemoryAction action = device.events[i].action;
  const int64_t block = SignedBytes(replay.BlockBytes(i));
  const bool is_free =
      action == MemoryAction::kFreeRequested || action == MemoryAction::kFreeCompleted;
  return action == MemoryAction::kAlloc ? block : is_free ? -block : 0;
}

int64_t ChangeOfReserved(const MemoryEvent& event) {
  switch (event.action) {
    case MemoryAction::kSegmentAlloc:
    case MemoryAction::kSegmentMap:
      return SignedBytes(event.size);
    case MemoryAction::kSegmentFree:
    case MemoryAction::kSegmentUnmap:
      return -SignedBytes(event.size);
    default:
      return 0;
  }
}

}  // namespace

HeldMemory HeldAfterEach(const DeviceMemory& device, const Replay& replay) {
  int64_t allocated = SignedBytes(replay.end.allocated);
  int64_t reserved = SignedBytes(replay.end.reserved);
  const auto events = static_cast<uint32_t>(device.events.size());
  for (uint32_t i = 0; i < events; ++i) {
    CheckStopAt(i);
    allocated = AddSaturating(allocated, -ChangeOfAllocated(device, replay, i));
    reserved = AddSaturating(reserved, -ChangeOfReserved(device.events[i]));
  }
  HeldMemory held;
  held.allocated.push_back(allocated);
  held.reserved.push_back(reserved);
  for (uint32_t i = 0; i < events; ++i) {
    CheckStopAt(i);
    allocated = AddSaturating(allocated, ChangeOfAllocated(device, replay, i));
    reserved = AddSaturating(reserved, ChangeOfReserved(device.events[i]));
    held.allocated.push_back(allocated);
    held.reserved.push_back(reserved);
  }
  return held;
}

}  // namespace borescope::internal::postmortem
