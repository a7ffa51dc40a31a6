#include "borescope/postmortem/memory/beginning.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal::postmortem {

namespace {

// --- Links and blocks before the first event ---

class Linker {
 public:
  Linker(const DeviceMemory& device, Replay& replay, Beginning& beginning)
      : device_(device), replay_(replay), beginning_(beginning) {}

  void Link() {
    replay_.links.resize(device_.events.size(), kNoIndex);
    replay_.block_units.resize(device_.events.size(), 0);
    for (const MemoryEvent& event : device_.events) {
      if (event.action == MemoryAction::kFreeCompleted) beginning_.has_completions = true;
    }
    for (uint32_t i = 0; i < device_.events.size(); ++i) {
      LinkEvent(i);
    }
    AddBlocksOfSnapshot();
    SortBlocks();
  }

 private:
  void LinkEvent(uint32_t i) {
    const MemoryEvent& event = device_.events[i];
    switch (event.action) {
      case MemoryAction::kAlloc:
        LinkAlloc(i, event);
        break;
      case MemoryAction::kFreeRequested:
        LinkFree(i, event, !beginning_.has_completions);
        break;
      case MemoryAction::kFreeCompleted:
        LinkFree(i, event, true);
        break;
      default:
        break;
    }
  }

  void LinkAlloc(uint32_t i, const MemoryEvent& event) {
    const auto [found, is_new] = live_.try_emplace(event.address, i);
    if (is_new) return;
    replay_.replaced.emplace_back(i, found->second);
    if (FreedBy(found->second) == kNoIndex) FreedBy(found->second) = i;
    found->second = i;
  }

  void LinkFree(uint32_t i, const MemoryEvent& event, bool completes) {
    auto found = live_.find(event.address);
    if (found == live_.end()) {
      const auto start = static_cast<uint32_t>(replay_.start_blocks.size());
      replay_.start_blocks.push_back({event.address, 0, event.size, 0, kNoIndex, event.lane, true});
      found = live_.emplace(event.address, Replay::kStartBlock + start).first;
    }
    const uint32_t owner = found->second;
    replay_.links[i] = owner;
    if (FreedBy(owner) == kNoIndex) FreedBy(owner) = i;
    if (completes) live_.erase(found);
  }

  uint32_t& FreedBy(uint32_t owner) {
    return owner >= Replay::kStartBlock ? replay_.start_blocks[owner - Replay::kStartBlock].freed
                                        : replay_.links[owner];
  }

  // What is in use at the end and was never allocated was so from the start.
  void AddBlocksOfSnapshot() {
    for (const MemorySegment& segment : device_.segments) {
      for (uint32_t b = 0; b < segment.blocks; ++b) {
        const MemoryBlock& block = device_.blocks[segment.first_block + b];
        if (block.state == MemoryBlockState::kFree) continue;
        const auto found = live_.find(block.address);
        if (found == live_.end()) {
          replay_.start_blocks.push_back({block.address, block.size,
                                          std::min(block.requested, block.size), block.stack,
                                          kNoIndex, segment.lane, false});
        } else if (found->second >= Replay::kStartBlock) {  // freed, and a stream still uses it
          StartBlock& start = replay_.start_blocks[found->second - Replay::kStartBlock];
          start.size = block.size;
          start.requested = std::min(block.requested, block.size);
          start.stack = block.stack;
          start.is_inferred = false;
        }
      }
    }
  }

  // Links name blocks by their number, which is that of their order by address.
  void SortBlocks() {
    std::vector<StartBlock>& blocks = replay_.start_blocks;
    std::vector<uint32_t> order(blocks.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return blocks[a].address < blocks[b].address; });
    std::vector<StartBlock> sorted;
    sorted.reserve(blocks.size());
    std::vector<uint32_t> place(blocks.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(blocks[order[i]]);
    }
    blocks = std::move(sorted);
    if (blocks.empty()) return;
    for (uint32_t i = 0; i < device_.events.size(); ++i) {
      uint32_t& link = replay_.links[i];
      const bool is_free = device_.events[i].action != MemoryAction::kAlloc;
      if (is_free && link != kNoIndex && link >= Replay::kStartBlock) {
        link = Replay::kStartBlock + place[link - Replay::kStartBlock];
      }
    }
    for (auto& [event, owner] : replay_.replaced) {
      if (owner >= Replay::kStartBlock) {
        owner = Replay::kStartBlock + place[owner - Replay::kStartBlock];
      }
    }
  }

  const DeviceMemory& device_;
  Replay& replay_;
  Beginning& beginning_;
  HashMap<uint64_t, uint32_t>
      live_;  // by address: its allocation, or Replay::kStartBlock + its start block
};

// --- Segments before the first event ---

// Byte ranges that have pages, of one lane and pool.
using Intervals = std::map<uint64_t, uint64_t>;  // begin to end

void AddInterval(Intervals& intervals, uint64_t begin, uint64_t end) {
  auto at = intervals.upper_bound(begin);
  if (at != intervals.begin() && std::prev(at)->second >= begin) {
    --at;
    begin = at->first;
    end = std::max(end, at->second);
  }
  while (at != intervals.end() && at->first <= end) {
    end = std::max(end, at->second);
    at = intervals.erase(at);
  }
  intervals.emplace(begin, end);
}

void CutInterval(Intervals& intervals, uint64_t begin, uint64_t end) {
  auto at = intervals.upper_bound(begin);
  if (at != intervals.begin()) --at;
  while (at != intervals.end() && at->first < end) {
    const auto [first, last] = *at;
    if (last <= begin) {
      ++at;
      continue;
    }
    at = intervals.erase(at);
    if (first < begin) intervals.emplace(first, begin);
    if (last > end) at = intervals.emplace(end, last).first;
  }
}

void FindPlainSegments(const DeviceMemory& device, Beginning& beginning) {
  HashSet<uint64_t> given;
  const auto add = [&](uint64_t address, uint64_t size, uint16_t lane, bool is_small) {
    MemorySegment segment;
    segment.address = address;
    segment.size = size;
    segment.lane = lane;
    segment.is_small = is_small;
    beginning.segments.push_back(segment);
  };
  for (const MemoryEvent& event : device.events) {
    if (event.action == MemoryAction::kSegmentAlloc) given.insert(event.address);
    if (event.action == MemoryAction::kSegmentFree && given.erase(event.address) == 0) {
      add(event.address, event.size, event.lane, IsSmallSegment(event.size));
    }
  }
  for (const MemorySegment& segment : device.segments) {
    if (!segment.is_expandable && !given.contains(segment.address)) {
      add(segment.address, segment.size, segment.lane, segment.is_small);
    }
  }
  std::sort(beginning.segments.begin(), beginning.segments.end(),
            [](const MemorySegment& a, const MemorySegment& b) { return a.address < b.address; });
}

// Pages at the end, less those that were mapped, plus those that were unmapped, from the last event
// to the first; and the address ranges that hold all pages there ever were.
void FindPages(const DeviceMemory& device, Beginning& beginning) {
  std::map<uint32_t, Intervals> mapped;
  std::map<uint32_t, Intervals> seen;
  const auto list = [](uint16_t lane, bool is_small) {
    return uint32_t{lane} * 2 + (is_small ? 1 : 0);
  };
  const auto add = [](Intervals& intervals, uint64_t address, uint64_t size) {
    if (size > 0) AddInterval(intervals, address, address + size);
  };
  for (const MemorySegment& segment : device.segments) {
    if (!segment.is_expandable) continue;
    add(mapped[list(segment.lane, segment.is_small)], segment.address, segment.size);
    add(seen[list(segment.lane, segment.is_small)], segment.address, segment.size);
  }
  for (size_t i = device.events.size(); i-- > 0;) {
    const MemoryEvent& event = device.events[i];
    const bool is_map = event.action == MemoryAction::kSegmentMap;
    if (!is_map && event.action != MemoryAction::kSegmentUnmap) continue;
    const uint32_t of = list(event.lane, IsSmallSegment(event.size));
    add(seen[of], event.address, event.size);
    if (is_map) {
      CutInterval(mapped[of], event.address, event.address + event.size);
    } else {
      add(mapped[of], event.address, event.size);
    }
  }
  for (const auto& [of, intervals] : mapped) {
    for (const auto& [begin, end] : intervals) {
      beginning.mapped.push_back({begin, end, static_cast<uint16_t>(of / 2), (of & 1) != 0});
    }
  }
  // A range ends where pages of another one begin, or beyond what a device can have.
  constexpr uint64_t kFar = uint64_t{1} << 38;
  std::map<uint64_t, Beginning::Range> pages;
  for (const auto& [of, intervals] : seen) {
    for (const auto& [begin, end] : intervals) {
      pages[begin] = {begin, end, static_cast<uint16_t>(of / 2), (of & 1) != 0};
    }
  }
  for (const auto& [begin, page] : pages) {
    if (!beginning.ranges.empty()) {
      Beginning::Range& last = beginning.ranges.back();
      if (last.lane == page.lane && last.is_small == page.is_small && begin - last.end < kFar) {
        last.end = std::max(last.end, page.end);
        continue;
      }
    }
    beginning.ranges.push_back(page);
  }
}

// All of them, without blocks.
std::vector<MemorySegment> SegmentsOf(const Beginning& beginning) {
  std::vector<MemorySegment> segments = beginning.segments;
  for (const Beginning::Range& range : beginning.mapped) {
    MemorySegment segment;
    segment.address = range.begin;
    segment.size = range.end - range.begin;
    segment.lane = range.lane;
    segment.is_small = range.is_small;
    segment.is_expandable = true;
    segments.push_back(segment);
  }
  return segments;
}

// A block that was freed has the size that its request was rounded to; of a large block which was
// not split what is left up to the next one belongs to it, as no free block is that small.
void InferSizes(const MemorySnapshot& snapshot, const Beginning& beginning, Replay& replay) {
  auto segment = beginning.segments.begin();
  for (size_t i = 0; i < replay.start_blocks.size(); ++i) {
    StartBlock& block = replay.start_blocks[i];
    if (!block.is_inferred) continue;
    ++replay.start_inferred;
    block.size = RoundRequest(block.requested, snapshot.settings);
    while (segment != beginning.segments.end() &&
           segment->address + segment->size <= block.address) {
      ++segment;
    }
    if (segment == beginning.segments.end() || segment->address > block.address) continue;
    if (segment->is_small) continue;
    uint64_t next = segment->address + segment->size;
    if (i + 1 < replay.start_blocks.size()) {
      next = std::min(next, replay.start_blocks[i + 1].address);
    }
    const uint64_t end = block.address + block.size;
    if (next > end && next - end <= kSmallRequest) block.size += next - end;
  }
}

}  // namespace

Beginning FindBeginning(const MemorySnapshot& snapshot, const DeviceMemory& device,
                        Replay& replay) {
  Beginning beginning;
  for (const MemorySegment& segment : device.segments) {
    beginning.has_private = beginning.has_private || snapshot.lanes[segment.lane].is_private();
  }
  Linker(device, replay, beginning).Link();
  FindPlainSegments(device, beginning);
  FindPages(device, beginning);
  InferSizes(snapshot, beginning, replay);
  replay.start_segments = SegmentsOf(beginning);
  return beginning;
}

}  // namespace borescope::internal::postmortem
