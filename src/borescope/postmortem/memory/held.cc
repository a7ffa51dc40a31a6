#include "borescope/postmortem/memory/held.h"

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal::postmortem {
namespace {

// Calls `use` with what each event adds to the blocks in use and to the segments. A block is in use
// until its free is requested, or completed where no request was recorded, or it is replaced.
template <class Use>
void ForEachChange(const DeviceMemory& device, const Replay& replay, const Use& use) {
  EndingBlocks ending(device, replay);
  for (uint32_t i = 0; i < device.events.size(); ++i) {
    CheckStopAt(i);
    const bool is_alloc = device.events[i].action == MemoryAction::kAlloc;
    int64_t allocated = is_alloc ? SignedSaturating(replay.BlockBytes(i)) : 0;
    ending.Of(i, [&](uint32_t owner) {
      allocated = SubtractSaturating(allocated, SignedSaturating(replay.BytesOf(owner)));
    });
    use(allocated, ReservedBy(device.events[i]));
  }
}

}  // namespace

int64_t ReservedBy(const MemoryEvent& event) {
  switch (event.action) {
    case MemoryAction::kSegmentAlloc:
    case MemoryAction::kSegmentMap:
      return SignedSaturating(event.size);
    case MemoryAction::kSegmentFree:
    case MemoryAction::kSegmentUnmap:
      return -SignedSaturating(event.size);
    default:
      return 0;
  }
}

HeldMemory HeldAfterEach(const DeviceMemory& device, const Replay& replay) {
  int64_t allocated = SignedSaturating(replay.end.allocated);
  int64_t reserved = SignedSaturating(replay.end.reserved);
  ForEachChange(device, replay, [&](int64_t of_allocated, int64_t of_reserved) {
    allocated = SubtractSaturating(allocated, of_allocated);
    reserved = SubtractSaturating(reserved, of_reserved);
  });
  HeldMemory held;
  held.allocated.push_back(allocated);
  held.reserved.push_back(reserved);
  ForEachChange(device, replay, [&](int64_t of_allocated, int64_t of_reserved) {
    allocated = AddSaturating(allocated, of_allocated);
    reserved = AddSaturating(reserved, of_reserved);
    held.allocated.push_back(allocated);
    held.reserved.push_back(reserved);
  });
  return held;
}

}  // namespace borescope::internal::postmortem
