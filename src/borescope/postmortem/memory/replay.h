// The replay of a device's events through the model of the allocator (allocator.h): what there was
// before the first event, whether the model predicts every address that was recorded, and what was
// where at any moment. Only sizes, streams, frees, and the addresses of new segments are taken from
// the recording; each address of a block is a prediction that is compared with the recorded one.
//
// Pure functions of one device's events: safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/column_data.h"
#include "borescope/postmortem/memory/allocator.h"
#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::postmortem {

// A block that was in use before the first event.
struct StartBlock {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t requested = 0;
  uint32_t stack = 0;         // 0 if it was freed since: no stack of its allocation is left
  uint32_t freed = kNoIndex;  // the event that freed it
  uint16_t lane = 0;
  bool is_inferred = false;  // its size follows from what was requested
};

// Who has the memory that the allocator reserved, for a request of `size` bytes. All but the last
// three add up to what is reserved.
struct MemoryParts {
  uint64_t requested = 0;     // by the program, of blocks in use
  uint64_t slack = 0;         // of these blocks, beyond what was requested
  uint64_t pending = 0;       // freed, but a stream may still use it
  uint64_t usable = 0;        // free, and would serve the request
  uint64_t too_small = 0;     // free in its pool and stream, but does not serve it
  uint64_t other_pool = 0;    // free among small blocks for a large request, or the other way round
  uint64_t other_stream = 0;  // free for another stream
  uint64_t private_pool = 0;  // free in a pool of a graph or of torch.cuda.MemPool
  uint64_t releasable = 0;    // free whole segments, which a retry gives back; part of the above
  uint64_t largest_free = 0;  // the largest free block
  uint64_t free_blocks = 0;
  uint64_t free() const { return usable + too_small + other_pool + other_stream + private_pool; }
  uint64_t reserved() const { return requested + slack + pending + free(); }
};
// What a free block is for a request of `size` bytes; the first is best. A block is usable if a
// search would find it where it is the only one.
enum class FreeUse : uint8_t { kUsable, kTooSmall, kOtherPool, kOtherStream, kPrivatePool };
std::string_view Name(FreeUse use);
FreeUse UseOf(const LayoutBlock& block, const AllocatorSettings& settings,
              std::span<const MemoryLane> lanes, uint64_t size, uint16_t lane);
MemoryParts PartsFor(const Allocator& allocator, std::span<const MemoryLane> lanes, uint64_t size,
                     uint16_t lane);

// What there was when a request failed.
struct OomState {
  uint32_t event = kNoIndex;
  uint16_t lane = 0;
  uint64_t size = 0;         // rounded, as recorded
  uint64_t needed = 0;       // of the driver
  uint64_t asked = 0;        // what is compared with the process's limit: at least `needed`
  uint64_t device_free = 0;  // as recorded
  uint64_t reserved = 0;
  uint64_t allocated = 0;
  uint64_t peak_reserved = 0;  // the most that was reserved before
  uint64_t retries = 0;        // of the program until then
  MemoryParts parts;
};

struct Replay {
  // Nothing else holds if this is not empty: why there is none. A fixed sentence.
  std::string_view impossible;

  std::vector<StartBlock> start_blocks;       // by address
  std::vector<MemorySegment> start_segments;  // before the first event, without their blocks
  uint64_t start_inferred = 0;
  bool is_complete = false;  // nothing was in use or reserved before the first event
  // Every address is known, and is what the model says: other settings can be compared with it.
  bool is_exact() const { return is_complete && forced == 0 && left_out == 0; }
  uint64_t allocations = 0;
  uint64_t predicted = 0;  // whose address is what the model says
  uint64_t forced = 0;     // allocations and releases that were taken from the recording
  // Allocations and blocks before the first event that lie where something else was: some events
  // are missing or wrong. They have no bytes; at most one in a hundred events, else there is no
  // replay.
  uint64_t left_out = 0;
  // The segments and blocks that the snapshot lists contradict its events, so that the replay
  // began with none: the end of the recording is missing.
  bool follows_events_alone = false;
  uint64_t segments_given = 0;
  uint64_t segments_predicted = 0;  // asked for when, and as large as, the model says
  uint64_t released = 0;
  uint64_t released_predicted = 0;  // free and whole in the model
  AllocatorCounters end;
  uint64_t inactive_split = 0;
  bool segments_equal = false;      // segments and all blocks at the end are those of the snapshot
  int64_t reserved_difference = 0;  // the replay's less the snapshot's
  int64_t allocated_difference = 0;
  uint32_t peak_event = kNoIndex;  // the first with the most allocated; kNoIndex: the start

  // For each event. Of an allocation the event that freed it, kNoIndex if none did; of a free the
  // allocation, or kStartBlock + its number in start_blocks.
  static constexpr uint32_t kStartBlock = uint32_t{1} << 31;
  ColumnData<uint32_t> links;
  // Allocations at an address at which a block was live that no event freed, and that block, as in
  // `links` of a free; by allocation. The block ends there if nothing freed it before.
  std::vector<std::pair<uint32_t, uint32_t>> replaced;
  // For each allocation and the event that freed it: the bytes of its block / 512.
  ColumnData<uint32_t> block_units;
  std::vector<uint32_t> forced_events;  // at most kMaxForcedEvents
  static constexpr size_t kMaxForcedEvents = 1000;
  std::vector<OomState> ooms;  // the last one, and of those before as many as kMaxOoms allows
  static constexpr size_t kMaxOoms = 1000;
  uint64_t ooms_left_out = 0;

  uint64_t BlockBytes(uint32_t event) const {
    return uint64_t{block_units[event]} * kSmallestBlock;
  }
  // Of a block, which `owner` names as `links` of a free does: the event with which its use ended,
  // kNoIndex if it did not, and its size.
  uint32_t EndOf(uint32_t owner) const {
    return owner >= kStartBlock ? start_blocks[owner - kStartBlock].freed : links[owner];
  }
  uint64_t BytesOf(uint32_t owner) const {
    return owner >= kStartBlock ? start_blocks[owner - kStartBlock].size : BlockBytes(owner);
  }
};

// The blocks whose use ends with an event, asked event after event: those that a free names, and
// those that an allocation replaces.
class EndingBlocks {
 public:
  // Both have to live as long as this.
  EndingBlocks(const DeviceMemory& device, const Replay& replay)
      : device_(device), replay_(replay) {}

  // Calls `use` with the owner of each, before the event counts. REQUIRES: every event once, in
  // their order.
  template <class Use>
  void Of(uint32_t event, const Use& use) {
    const auto end = [&](uint32_t owner) {
      if (replay_.EndOf(owner) == event) use(owner);
    };
    const auto& replaced = replay_.replaced;
    for (; next_ < replaced.size() && replaced[next_].first == event; ++next_) {
      end(replaced[next_].second);
    }
    const bool is_free = device_.events[event].action != MemoryAction::kAlloc;
    if (is_free && replay_.links[event] != kNoIndex) end(replay_.links[event]);
  }

 private:
  const DeviceMemory& device_;
  const Replay& replay_;
  size_t next_ = 0;  // in `replaced`
};

// Whether a segment of that size, or a page, is of the pool of small blocks.
inline bool IsSmallSegment(uint64_t size) { return size == kSmallSegment; }
// The lane of a segment that came. Events of older formats do not name their pool; the segments at
// the end do.
uint16_t LaneOfSegment(const MemorySnapshot& snapshot, const DeviceMemory& device,
                       const MemoryEvent& event);

// Where the events contradict the segments and blocks of the snapshot, a replay of the events
// alone, if there is one.
Replay ReplayDevice(const MemorySnapshot& snapshot, const DeviceMemory& device);

}  // namespace borescope::internal::postmortem
