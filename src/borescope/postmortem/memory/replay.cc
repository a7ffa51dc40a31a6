#include "borescope/postmortem/memory/replay.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/postmortem/memory/beginning.h"

namespace borescope::internal::postmortem {

namespace {

constexpr uint32_t kStart = Replay::kStartBlock;

// Sums of sizes and addresses up to here do not overflow; no device comes near.
constexpr uint64_t kLargestSize = uint64_t{1} << 50;
constexpr uint64_t kLargestAddress = std::numeric_limits<uint64_t>::max() - 4 * kLargestSize;

constexpr std::string_view kTooManyPieces =
    "its pages take too long to find: they are in more pieces than an allocator makes";

bool IsPossible(uint64_t address, uint64_t size) {
  return size <= kLargestSize && address <= kLargestAddress;
}

bool IsOfSegment(MemoryAction action) {
  return action == MemoryAction::kSegmentAlloc || action == MemoryAction::kSegmentMap ||
         action == MemoryAction::kSegmentFree || action == MemoryAction::kSegmentUnmap;
}

// Whether all addresses and sizes are ones that a device can have. What is cut into blocks is a
// multiple of the smallest: a replay counts in such units.
bool IsPossible(const DeviceMemory& device) {
  const auto is_whole = [](uint64_t size) { return size % kSmallestBlock == 0; };
  return std::all_of(device.segments.begin(), device.segments.end(),
                     [&](const MemorySegment& segment) {
                       return is_whole(segment.size) && IsPossible(segment.address, segment.size);
                     }) &&
         std::all_of(device.blocks.begin(), device.blocks.end(),
                     [&](const MemoryBlock& block) { return is_whole(block.size); }) &&
         std::all_of(device.events.begin(), device.events.end(), [&](const MemoryEvent& event) {
           return (is_whole(event.size) || !IsOfSegment(event.action)) &&
                  IsPossible(event.address, event.size);
         });
}

// --- The replay ---

class Replayer {
 public:
  Replayer(const MemorySnapshot& snapshot, const DeviceMemory& device, Replay& replay,
           const Beginning& beginning)
      : snapshot_(snapshot),
        device_(device),
        replay_(replay),
        beginning_(beginning),
        allocator_(snapshot.settings, snapshot.lanes),
        settings_(snapshot.settings) {}

  void Run() {
    if (!PlaceStart()) {
      replay_.impossible = "the blocks before the first event overlap";
      return;
    }
    replay_.is_complete = beginning_.segments.empty() && beginning_.mapped.empty();
    peak_ = allocator_.counters().allocated;
    ooms_ = static_cast<uint64_t>(
        std::count_if(device_.events.begin(), device_.events.end(),
                      [](const MemoryEvent& event) { return event.action == MemoryAction::kOom; }));
    for (uint32_t i = 0; i < device_.events.size(); ++i) {
      CheckStopAt(i);
      if (!Apply(i)) {
        replay_.impossible = "an event contradicts the events before it";
        return;
      }
      if (allocator_.walked() > kMostWalked) {
        replay_.impossible = kTooManyPieces;
        return;
      }
      if (allocator_.counters().allocated > peak_) {
        peak_ = allocator_.counters().allocated;
        replay_.peak_event = i;
      }
    }
    for (const auto& [address, waiting] : waiting_) {
      allocator_.AddSegment(waiting.address, waiting.size, waiting.lane, waiting.is_small);
    }
    replay_.end = allocator_.counters();
    replay_.inactive_split = allocator_.InactiveSplit();
    CompareEnd();
  }

 private:
  // A segment that the driver gave, and that no block was taken from yet.
  struct Waiting {
    uint64_t address;
    uint64_t size;
    uint16_t lane;
    bool is_small;
  };

  bool PlaceStart() {
    for (const MemorySegment& segment : beginning_.segments) {
      if (allocator_.AddSegment(segment.address, segment.size, segment.lane, segment.is_small) ==
          kNoIndex) {
        return false;
      }
    }
    for (size_t i = 0; i < beginning_.ranges.size(); ++i) {
      const Beginning::Range& range = beginning_.ranges[i];
      // Ranges are larger than what was used of them: pages may follow up to the next range.
      uint64_t end = range.end + (uint64_t{1} << 37);
      if (i + 1 < beginning_.ranges.size()) end = std::min(end, beginning_.ranges[i + 1].begin);
      end = std::min(end, FirstPlainSegmentAfter(range.end));
      if (!allocator_.AddRange(range.begin, end - range.begin, range.lane, range.is_small)) {
        return false;
      }
    }
    for (const Beginning::Range& pages : beginning_.mapped) {
      if (!allocator_.MapAt(pages.begin, pages.end - pages.begin)) return false;
    }
    for (uint32_t i = 0; i < replay_.start_blocks.size(); ++i) {
      CheckStopAt(i);
      const StartBlock& block = replay_.start_blocks[i];
      start_ids_.push_back(
          allocator_.TakeAt(block.address, block.size, block.requested, kStart + i, true));
      if (start_ids_.back() != kNoIndex) continue;
      replay_.start_blocks[i].size = 0;
      if (!MayLeaveOut()) return false;
    }
    return true;
  }

  uint64_t FirstPlainSegmentAfter(uint64_t address) {
    if (plain_segments_.empty()) {
      for (const MemorySegment& segment : beginning_.segments) {
        plain_segments_.push_back(segment.address);
      }
      for (const MemoryEvent& event : device_.events) {
        if (event.action == MemoryAction::kSegmentAlloc) plain_segments_.push_back(event.address);
      }
      plain_segments_.push_back(std::numeric_limits<uint64_t>::max());
      std::sort(plain_segments_.begin(), plain_segments_.end());
    }
    return *std::lower_bound(plain_segments_.begin(), plain_segments_.end(), address);
  }

  bool Apply(uint32_t i) {
    const MemoryEvent& event = device_.events[i];
    switch (event.action) {
      case MemoryAction::kAlloc:
        return ApplyAlloc(i, event);
      case MemoryAction::kFreeRequested:
        ApplyFree(i, !beginning_.has_completions);
        return true;
      case MemoryAction::kFreeCompleted:
        ApplyFree(i, true);
        return true;
      case MemoryAction::kSegmentAlloc:
        ++replay_.segments_given;
        waiting_.insert_or_assign(event.address, Waiting{event.address, event.size,
                                                         LaneOfSegment(snapshot_, device_, event),
                                                         IsSmallSegment(event.size)});
        return true;
      case MemoryAction::kSegmentMap:
        ++replay_.segments_given;
        if (mapped_from_ == kNoIndex) mapped_from_ = i;
        if (!HasPlan(i)) PlanBefore(i);
        if (!allocator_.MapAt(event.address, event.size)) return false;
        return true;
      case MemoryAction::kSegmentFree:
      case MemoryAction::kSegmentUnmap:
        return ApplyRelease(i, event);
      case MemoryAction::kOom:
        ApplyOom(i, event);
        return true;
      default:
        return true;
    }
  }

  // --- Allocations ---

  bool ApplyAlloc(uint32_t i, const MemoryEvent& event) {
    while (next_replaced_ < replay_.replaced.size() &&
           replay_.replaced[next_replaced_].first == i) {
      End(replay_.replaced[next_replaced_++].second, i);
    }
    ++replay_.allocations;
    const uint64_t size = RoundRequest(event.size, settings_);
    const uint16_t lane = LaneOfBlock(event);
    uint32_t block = Predict(size, lane, event.address);
    if (block != kNoIndex && allocator_.BlockAddress(block) == event.address) {
      ++replay_.predicted;
      block = allocator_.Take(block, size, event.size, i);
    } else {
      Force(i);
      TakeWaiting(event.address);
      block = allocator_.TakeAt(event.address, size, event.size, i, false);
    }
    mapped_from_ = kNoIndex;
    planned_.reset();
    if (block == kNoIndex) return MayLeaveOut();
    const uint64_t units = allocator_.BlockSize(block) / kSmallestBlock;
    replay_.block_units[i] =
        static_cast<uint32_t>(std::min<uint64_t>(units, std::numeric_limits<uint32_t>::max()));
    // Until the block is freed its number is kept where its size will be.
    if (const uint32_t freed = replay_.links[i]; freed != kNoIndex) {
      replay_.block_units[freed] = block;
    } else {
      kept_.emplace(i, block);
    }
    return true;
  }

  // Counts something that lies where something else is.
  bool MayLeaveOut() { return ++replay_.left_out <= device_.events.size() / 100; }

  // The block that the model gives; if it asks the driver, the one of the segment that came.
  uint32_t Predict(uint64_t size, uint16_t lane, uint64_t recorded) {
    const uint32_t found = allocator_.Find(size, lane);
    if (mapped_from_ != kNoIndex) {  // pages came: the plan is of before
      if (planned_ != recorded) return found;
      ++replay_.segments_predicted;
      return allocator_.FreeBlockAt(recorded, size);
    }
    if (found != kNoIndex) return found;
    if (settings_.expandable) {  // a free row that a search does not take, with max_split_size
      if (allocator_.PlanPages(size, lane) == recorded) {
        return allocator_.FreeBlockAt(recorded, size);
      }
    }
    const bool is_small = size <= kSmallRequest;
    const auto waiting = waiting_.find(recorded);
    if (waiting == waiting_.end() || waiting->second.lane != lane ||
        waiting->second.is_small != is_small) {
      return kNoIndex;
    }
    if (waiting->second.size == SegmentSize(size, settings_)) ++replay_.segments_predicted;
    return TakeWaiting(recorded);
  }

  // Before the first of some pages comes: where the model would put the request that needs them,
  // which is the next allocation.
  void PlanBefore(uint32_t i) {
    for (uint32_t next = i; next < device_.events.size(); ++next) {
      const MemoryEvent& event = device_.events[next];
      if (event.action == MemoryAction::kSegmentMap) continue;
      if (event.action != MemoryAction::kAlloc) return;
      planned_ = allocator_.PlanPages(RoundRequest(event.size, settings_), event.lane);
      return;
    }
  }
  bool HasPlan(uint32_t i) const { return mapped_from_ != i; }

  uint32_t TakeWaiting(uint64_t address) {
    auto found = waiting_.upper_bound(address);
    if (found == waiting_.begin()) return kNoIndex;
    const Waiting waiting = (--found)->second;
    if (address - waiting.address >= waiting.size) return kNoIndex;
    waiting_.erase(found);
    return allocator_.AddSegment(waiting.address, waiting.size, waiting.lane, waiting.is_small);
  }

  // Events of older formats do not name their pool; the snapshot's segments do.
  uint16_t LaneOfBlock(const MemoryEvent& event) const {
    if (!beginning_.has_private) return event.lane;
    // Segments are sorted, and none overlaps another.
    auto segment = std::upper_bound(
        device_.segments.begin(), device_.segments.end(), event.address,
        [](uint64_t address, const MemorySegment& other) { return address < other.address; });
    if (segment == device_.segments.begin()) return event.lane;
    --segment;
    const bool is_its = snapshot_.lanes[segment->lane].is_private() &&
                        event.address - segment->address < segment->size;
    return is_its ? segment->lane : event.lane;
  }

  void Force(uint32_t i) {
    ++replay_.forced;
    if (replay_.forced_events.size() < Replay::kMaxForcedEvents) replay_.forced_events.push_back(i);
  }

  // --- Frees ---

  uint32_t BlockOf(uint32_t owner, uint32_t freed_by) {
    if (owner >= kStart) return start_ids_[owner - kStart];
    if (freed_by != kNoIndex) return replay_.block_units[freed_by];
    const auto found = kept_.find(owner);
    return found == kept_.end() ? kNoIndex : found->second;
  }
  uint32_t FreedBy(uint32_t owner) const {
    return owner >= kStart ? replay_.start_blocks[owner - kStart].freed : replay_.links[owner];
  }

  void ApplyFree(uint32_t i, bool completes) {
    const uint32_t owner = replay_.links[i];
    if (owner == kNoIndex) return;
    if (FreedBy(owner) == i) {
      const uint32_t block = BlockOf(owner, i);
      replay_.block_units[i] =
          owner >= kStart
              ? static_cast<uint32_t>(replay_.start_blocks[owner - kStart].size / kSmallestBlock)
              : replay_.block_units[owner];
      if (replay_.block_units[i] == 0) return;  // it was left out
      allocator_.RequestFree(block, owner);
      if (completes) {
        allocator_.CompleteFree(block, owner);
      } else {
        in_use_elsewhere_.insert_or_assign(owner, block);
      }
      return;
    }
    const auto found = in_use_elsewhere_.find(owner);
    if (!completes || found == in_use_elsewhere_.end()) return;
    allocator_.CompleteFree(found->second, owner);
    in_use_elsewhere_.erase(found);
  }

  // A block is gone that no event completed.
  void End(uint32_t owner, uint32_t at) {
    uint32_t block = kNoIndex;
    if (const auto found = in_use_elsewhere_.find(owner); found != in_use_elsewhere_.end()) {
      block = found->second;
      in_use_elsewhere_.erase(found);
    } else if (FreedBy(owner) == at) {
      block = BlockOf(owner, at);
    }
    if (block == kNoIndex || replay_.BytesOf(owner) == 0) return;
    allocator_.RequestFree(block, owner);
    allocator_.CompleteFree(block, owner);
  }

  // --- Segments ---

  bool ApplyRelease(uint32_t i, const MemoryEvent& event) {
    ++replay_.released;
    TakeWaiting(event.address);
    const bool is_segment = event.action == MemoryAction::kSegmentFree;
    if (!(is_segment ? allocator_.ReleaseAt(event.address)
                     : allocator_.UnmapAt(event.address, event.size))) {
      return false;
    }
    ++replay_.released_predicted;
    // The last of some: if all is given back and the same call asks again, it was a retry.
    if (i + 1 >= device_.events.size()) return true;
    const MemoryEvent& next = device_.events[i + 1];
    const bool asks =
        next.action == MemoryAction::kSegmentAlloc || next.action == MemoryAction::kSegmentMap;
    if (asks && next.stack == event.stack && !allocator_.HasReleasable()) allocator_.CountRetry();
    return true;
  }

  void ApplyOom(uint32_t i, const MemoryEvent& event) {
    allocator_.CountRetry();
    allocator_.CountOom();
    const AllocatorCounters& counters = allocator_.counters();
    // What was free where takes a walk over all blocks: the last failure is always looked at, those
    // before as long as that is little work.
    ++ooms_seen_;
    const bool is_last = ooms_seen_ == ooms_;
    if (!is_last && (ooms_ - ooms_seen_ >= Replay::kMaxOoms || oom_work_ > kMostOomWork)) {
      ++replay_.ooms_left_out;
      return;
    }
    OomState state;
    state.event = i;
    state.lane = event.lane;
    state.size = event.size;
    state.device_free = event.address;
    state.needed = allocator_.Needed(event.size, event.lane);
    state.asked = SegmentSize(event.size, settings_);
    state.reserved = counters.reserved;
    state.allocated = counters.allocated;
    state.peak_reserved = counters.peak_reserved;
    state.retries = counters.retries;
    state.parts = PartsFor(allocator_, snapshot_.lanes, event.size, event.lane);
    oom_work_ += allocator_.blocks();
    replay_.ooms.push_back(state);
  }

  // --- The end ---

  void CompareEnd() {
    const std::vector<LayoutBlock> layout = allocator_.Layout();
    std::vector<LayoutBlock> shown;
    for (const LayoutBlock& block : layout) {
      if (block.state != BlockState::kUnmapped) shown.push_back(block);
    }
    uint64_t reserved = 0;
    uint64_t allocated = 0;
    bool is_equal = true;
    size_t at = 0;
    for (const MemorySegment& segment : device_.segments) {
      reserved += segment.size;
      for (uint32_t b = 0; b < segment.blocks; ++b, ++at) {
        const MemoryBlock& block = device_.blocks[segment.first_block + b];
        if (block.state == MemoryBlockState::kAllocated) allocated += block.size;
        is_equal = is_equal && at < shown.size() && IsSame(block, shown[at]);
      }
    }
    replay_.segments_equal = is_equal && at == shown.size();
    replay_.reserved_difference = static_cast<int64_t>(replay_.end.reserved - reserved);
    replay_.allocated_difference = static_cast<int64_t>(replay_.end.allocated - allocated);
  }

  static bool IsSame(const MemoryBlock& block, const LayoutBlock& model) {
    const BlockState state = block.state == MemoryBlockState::kAllocated ? BlockState::kAllocated
                             : block.state == MemoryBlockState::kPending ? BlockState::kPending
                                                                         : BlockState::kFree;
    return model.address == block.address && model.size == block.size && model.state == state &&
           (state != BlockState::kAllocated || model.requested == block.requested);
  }

  // Blocks that are looked at for failures, and to find pages: a few seconds of work each.
  static constexpr uint64_t kMostOomWork = uint64_t{1} << 26;
  static constexpr uint64_t kMostWalked = uint64_t{1} << 27;

  const MemorySnapshot& snapshot_;
  const DeviceMemory& device_;
  Replay& replay_;
  const Beginning& beginning_;
  Allocator allocator_;
  const AllocatorSettings& settings_;
  std::vector<uint32_t> start_ids_;
  std::map<uint64_t, Waiting> waiting_;  // by address
  std::vector<uint64_t> plain_segments_;
  HashMap<uint32_t, uint32_t> kept_;              // blocks that no event frees, by allocation
  HashMap<uint32_t, uint32_t> in_use_elsewhere_;  // pending blocks, by owner
  size_t next_replaced_ = 0;
  uint32_t mapped_from_ = kNoIndex;  // the first of pages that an allocation waits for
  std::optional<uint64_t> planned_;  // where the model puts it
  uint64_t peak_ = 0;
  uint64_t ooms_ = 0;       // failures in the recording
  uint64_t ooms_seen_ = 0;  // until now
  uint64_t oom_work_ = 0;
};

}  // namespace

std::string_view Name(FreeUse use) {
  switch (use) {
    case FreeUse::kUsable:
      return "usable";
    case FreeUse::kTooSmall:
      return "too small";
    case FreeUse::kOtherPool:
      return "other pool";
    case FreeUse::kOtherStream:
      return "other stream";
    case FreeUse::kPrivatePool:
      return "private pool";
  }
  return "";
}

FreeUse UseOf(const LayoutBlock& block, const AllocatorSettings& settings,
              std::span<const MemoryLane> lanes, uint64_t size, uint16_t lane) {
  const MemoryLane& wanted = lanes[lane];
  const MemoryLane& of = lanes[block.lane];
  if (of.pool_first != wanted.pool_first || of.pool_second != wanted.pool_second) {
    return of.is_private() ? FreeUse::kPrivatePool : FreeUse::kOtherPool;
  }
  if (block.is_small != (size <= kSmallRequest)) return FreeUse::kOtherPool;
  if (block.lane != lane) return FreeUse::kOtherStream;
  if (block.size < size || (block.is_expandable && !settings.expandable)) {
    return FreeUse::kTooSmall;
  }
  const bool is_taken = size < settings.max_split
                            ? block.size < settings.max_split
                            : block.size < size + settings.max_non_split_rounding;
  return is_taken ? FreeUse::kUsable : FreeUse::kTooSmall;
}

uint16_t LaneOfSegment(const MemorySnapshot& snapshot, const DeviceMemory& device,
                       const MemoryEvent& event) {
  const auto segment = std::lower_bound(
      device.segments.begin(), device.segments.end(), event.address,
      [](const MemorySegment& other, uint64_t address) { return other.address < address; });
  const bool is_its = segment != device.segments.end() && segment->address == event.address &&
                      snapshot.lanes[segment->lane].is_private();
  return is_its ? segment->lane : event.lane;
}

MemoryParts PartsFor(const Allocator& allocator, std::span<const MemoryLane> lanes, uint64_t size,
                     uint16_t lane) {
  MemoryParts parts;
  for (const LayoutBlock& block : allocator.Layout()) {
    if (block.state == BlockState::kUnmapped) continue;
    if (block.state == BlockState::kAllocated) {
      parts.requested += block.requested;
      parts.slack += block.size - block.requested;
      continue;
    }
    if (block.state == BlockState::kPending) {
      parts.pending += block.size;
      continue;
    }
    ++parts.free_blocks;
    parts.largest_free = std::max(parts.largest_free, block.size);
    if (block.is_whole && !block.is_expandable && !lanes[block.lane].is_private()) {
      parts.releasable += block.size;
    }
    switch (UseOf(block, allocator.settings(), lanes, size, lane)) {
      case FreeUse::kUsable:
        parts.usable += block.size;
        break;
      case FreeUse::kTooSmall:
        parts.too_small += block.size;
        break;
      case FreeUse::kOtherPool:
        parts.other_pool += block.size;
        break;
      case FreeUse::kOtherStream:
        parts.other_stream += block.size;
        break;
      case FreeUse::kPrivatePool:
        parts.private_pool += block.size;
        break;
    }
  }
  return parts;
}

namespace {

Replay ReplayWith(const MemorySnapshot& snapshot, const DeviceMemory& device) {
  Replay replay;
  const Beginning beginning = FindBeginning(snapshot, device, replay);
  Replayer(snapshot, device, replay, beginning).Run();
  return replay;
}

// What the snapshot lists is left out.
Replay ReplayOfEvents(const MemorySnapshot& snapshot, const DeviceMemory& device) {
  DeviceMemory events;
  events.device = device.device;
  events.events.assign(device.events.begin(), device.events.end());
  Replay replay = ReplayWith(snapshot, events);
  replay.follows_events_alone = true;
  replay.is_complete = false;  // nobody knows
  replay.segments_equal = false;
  for (const MemorySegment& segment : device.segments) {
    replay.reserved_difference -= static_cast<int64_t>(segment.size);
  }
  for (const MemoryBlock& block : device.blocks) {
    const bool is_used = block.state == MemoryBlockState::kAllocated;
    replay.allocated_difference -= is_used ? static_cast<int64_t>(block.size) : 0;
  }
  return replay;
}

}  // namespace

Replay ReplayDevice(const MemorySnapshot& snapshot, const DeviceMemory& device) {
  Replay replay;
  if (device.events.empty()) {
    replay.impossible = "the snapshot has no events";
  } else if (device.inconsistent > 0) {
    replay.impossible = "the blocks of the snapshot do not add up to its segments";
  } else if (device.events.size() >= kStart) {
    replay.impossible = "the snapshot has more events than can be replayed";
  } else if (!IsPossible(device)) {
    replay.impossible = "an address or a size is one that no device has";
  }
  if (!replay.impossible.empty()) return replay;
  replay = ReplayWith(snapshot, device);
  const bool is_contradiction = !replay.impossible.empty() && replay.impossible != kTooManyPieces;
  if (is_contradiction && !device.segments.empty()) {
    Replay of_events = ReplayOfEvents(snapshot, device);
    if (of_events.impossible.empty()) return of_events;
  }
  return replay;
}

}  // namespace borescope::internal::postmortem
