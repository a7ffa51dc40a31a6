#include "borescope/postmortem/memory/address_map.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"

namespace borescope::internal::postmortem {

namespace {

// The segments of a device, event after event.
class SegmentsNow {
 public:
  SegmentsNow(const MemorySnapshot& snapshot, const DeviceMemory& device, const Replay& replay)
      : snapshot_(snapshot), device_(device) {
    for (const MemorySegment& segment : replay.start_segments) {
      segments_.insert_or_assign(segment.address, segment);
    }
  }

  void Apply(const MemoryEvent& event) {
    switch (event.action) {
      case MemoryAction::kSegmentAlloc:
      case MemoryAction::kSegmentMap: {
        MemorySegment segment;
        segment.address = event.address;
        segment.size = event.size;
        segment.lane = LaneOfSegment(snapshot_, device_, event);
        segment.is_small = IsSmallSegment(event.size);
        segment.is_expandable = event.action == MemoryAction::kSegmentMap;
        segments_.insert_or_assign(segment.address, segment);
        break;
      }
      case MemoryAction::kSegmentFree:
        segments_.erase(event.address);
        break;
      case MemoryAction::kSegmentUnmap:
        Cut(event.address, event.address + event.size);
        break;
      default:
        break;
    }
  }

  // Pages in a row are one segment.
  std::vector<MemorySegment> Take() const {
    std::vector<MemorySegment> all;
    for (const auto& [address, segment] : segments_) {
      if (!all.empty()) {
        MemorySegment& last = all.back();
        if (last.is_expandable && segment.is_expandable && last.lane == segment.lane &&
            last.is_small == segment.is_small && last.address + last.size == address) {
          last.size += segment.size;
          continue;
        }
      }
      all.push_back(segment);
    }
    return all;
  }

 private:
  void Cut(uint64_t begin, uint64_t end) {
    auto at = segments_.upper_bound(begin);
    if (at != segments_.begin()) --at;
    while (at != segments_.end() && at->first < end) {
      const MemorySegment segment = at->second;
      const uint64_t last = segment.address + segment.size;
      if (!segment.is_expandable || last <= begin) {
        ++at;
        continue;
      }
      at = segments_.erase(at);
      if (segment.address < begin) Keep(segment, segment.address, begin);
      if (last > end) Keep(segment, end, last);
    }
  }
  void Keep(MemorySegment segment, uint64_t begin, uint64_t end) {
    segment.address = begin;
    segment.size = end - begin;
    segments_.insert_or_assign(begin, segment);
  }

  const MemorySnapshot& snapshot_;
  const DeviceMemory& device_;
  std::map<uint64_t, MemorySegment> segments_;  // by address
};

// The blocks that are in use or wait, event after event.
class BlocksNow {
 public:
  BlocksNow(const DeviceMemory& device, const Replay& replay)
      : device_(device),
        replay_(replay),
        start_(replay.start_blocks.size(), kInUse),
        events_(device.events.size(), kGone) {
    has_completions_ = std::any_of(
        device.events.begin(), device.events.end(),
        [](const MemoryEvent& event) { return event.action == MemoryAction::kFreeCompleted; });
  }

  void Apply(uint32_t i) {
    const MemoryAction action = device_.events[i].action;
    if (action == MemoryAction::kAlloc) {
      for (;
           next_replaced_ < replay_.replaced.size() && replay_.replaced[next_replaced_].first == i;
           ++next_replaced_) {
        StateOf(replay_.replaced[next_replaced_].second) = kGone;
      }
      events_[i] = kInUse;
      return;
    }
    const bool is_free =
        action == MemoryAction::kFreeRequested || action == MemoryAction::kFreeCompleted;
    if (!is_free || replay_.links[i] == kNoIndex) return;
    State& state = StateOf(replay_.links[i]);
    const bool completes = action == MemoryAction::kFreeCompleted || !has_completions_;
    if (state != kGone) state = completes ? kGone : kWaits;
  }

  std::vector<std::pair<MemoryBlock, uint32_t>> Take() const {  // by address, with their owners
    std::vector<std::pair<MemoryBlock, uint32_t>> all;
    for (uint32_t i = 0; i < start_.size(); ++i) {
      const StartBlock& block = replay_.start_blocks[i];
      if (start_[i] == kGone || block.size == 0) continue;  // it was left out
      all.emplace_back(
          MemoryBlock{block.address, block.size, block.requested, block.stack, Of(start_[i])},
          Replay::kStartBlock + i);
    }
    for (const uint32_t i : EachRow(events_.size())) {
      const MemoryEvent& event = device_.events[i];
      if (events_[i] == kGone || replay_.BlockBytes(i) == 0) continue;
      all.emplace_back(MemoryBlock{event.address, replay_.BlockBytes(i), event.size, event.stack,
                                   Of(events_[i])},
                       i);
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first.address < b.first.address; });
    return all;
  }

 private:
  enum State : uint8_t { kGone, kInUse, kWaits };

  static MemoryBlockState Of(State state) {
    return state == kWaits ? MemoryBlockState::kPending : MemoryBlockState::kAllocated;
  }
  State& StateOf(uint32_t owner) {
    return owner >= Replay::kStartBlock ? start_[owner - Replay::kStartBlock] : events_[owner];
  }

  const DeviceMemory& device_;
  const Replay& replay_;
  bool has_completions_ = false;
  std::vector<State> start_;   // by start block
  std::vector<State> events_;  // by event that allocated
  size_t next_replaced_ = 0;
};

// Puts blocks into their segments, and free ones where nothing is.
void Tile(const std::vector<std::pair<MemoryBlock, uint32_t>>& live, AddressMap& map) {
  const auto add = [&](const MemoryBlock& block, uint32_t owner) {
    map.blocks.push_back(block);
    map.owners.push_back(owner);
  };
  const auto add_free = [&](uint64_t begin, uint64_t end) {
    MemoryBlock block;
    block.address = begin;
    block.size = end - begin;
    if (end > begin) add(block, kNoIndex);
  };
  auto next = live.begin();
  for (MemorySegment& segment : map.segments) {
    const uint64_t end = segment.address + segment.size;
    uint64_t at = segment.address;
    segment.first_block = static_cast<uint32_t>(map.blocks.size());
    segment.allocated = 0;
    while (next != live.end() && next->first.address < at) {
      ++next;  // of no segment
    }
    for (; next != live.end() && next->first.address < end; ++next) {
      MemoryBlock block = next->first;
      if (block.address < at) continue;
      block.size = std::min(block.size, end - block.address);
      add_free(at, block.address);
      add(block, next->second);
      if (block.state == MemoryBlockState::kAllocated) segment.allocated += block.size;
      at = block.address + block.size;
    }
    add_free(at, end);
    segment.blocks = static_cast<uint32_t>(map.blocks.size()) - segment.first_block;
  }
}

}  // namespace

AddressMap MapAt(const MemorySnapshot& snapshot, const DeviceMemory& device, const Replay& replay,
                 uint32_t moment) {
  SegmentsNow segments(snapshot, device, replay);
  BlocksNow blocks(device, replay);
  const size_t events = moment == kNoIndex ? 0 : size_t{moment} + 1;
  for (const uint32_t i : EachRow(std::min(events, device.events.size()))) {
    segments.Apply(device.events[i]);
    blocks.Apply(i);
  }
  AddressMap map;
  map.segments = segments.Take();
  Tile(blocks.Take(), map);
  return map;
}

AddressMap MapOfBlocks(const DeviceMemory& device) {
  AddressMap map;
  uint32_t start = 0;
  for (MemorySegment segment : device.segments) {
    const auto blocks = std::span(device.blocks).subspan(segment.first_block, segment.blocks);
    segment.first_block = static_cast<uint32_t>(map.blocks.size());
    map.segments.push_back(segment);
    for (const MemoryBlock& block : blocks) {
      map.blocks.push_back(block);
      const bool is_used = block.state == MemoryBlockState::kAllocated;
      map.owners.push_back(is_used ? Replay::kStartBlock + start++ : kNoIndex);
    }
  }
  return map;
}

// --- Pieces ---

uint64_t MapPiece::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
}

size_t MapPiece::kind() const {
  return static_cast<size_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

namespace {

MemoryCategory CategoryOf(const MemoryCategories& categories, uint32_t owner) {
  return owner >= Replay::kStartBlock ? categories.start[owner - Replay::kStartBlock]
                                      : categories.events[owner];
}

void Join(MapPiece& piece, const MapPiece& next) {
  piece.blocks += next.blocks;
  for (size_t i = 0; i < piece.bytes.size(); ++i) {
    piece.bytes[i] += next.bytes[i];
  }
  if (next.largest > piece.largest) {
    piece.largest = next.largest;
    piece.stack = next.stack;
  }
}

// Joins neighbours while both are smaller than `least`; across segments, too, if `all` says so.
std::vector<MapPiece> JoinSmall(const std::vector<MapPiece>& pieces, uint64_t least, bool all) {
  std::vector<MapPiece> joined;
  for (const MapPiece& piece : pieces) {
    const bool fits = !joined.empty() && (all || joined.back().segment == piece.segment) &&
                      joined.back().total() < least && piece.total() < least;
    if (fits) {
      Join(joined.back(), piece);
    } else {
      joined.push_back(piece);
    }
  }
  return joined;
}

}  // namespace

std::vector<MapPiece> PiecesOf(const AddressMap& map, const MemoryCategories& categories,
                               size_t most) {
  std::vector<MapPiece> pieces;
  uint64_t total = 0;
  for (uint32_t number = 0; number < map.segments.size(); ++number) {
    const MemorySegment& segment = map.segments[number];
    total += segment.size;
    for (uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
      const MemoryBlock& block = map.blocks[b];
      MapPiece piece;
      piece.address = block.address;
      piece.segment = number;
      piece.blocks = 1;
      size_t kind = MapPiece::kFree;
      if (block.state == MemoryBlockState::kPending) {
        kind = MapPiece::kPending;
      } else if (block.state == MemoryBlockState::kAllocated) {
        kind = static_cast<size_t>(CategoryOf(categories, map.owners[b]));
        piece.largest = block.size;
        piece.stack = block.stack;
      }
      piece.bytes[kind] = block.size;
      if (!pieces.empty() && pieces.back().segment == number && pieces.back().kind() == kind) {
        Join(pieces.back(), piece);
      } else {
        pieces.push_back(piece);
      }
    }
  }
  most = std::max<size_t>(most, 1);
  for (const bool all : {false, true}) {
    for (uint64_t least = total / most + 1; pieces.size() > most; least *= 2) {
      pieces = JoinSmall(pieces, least, all);
      if (least > total) break;
    }
  }
  return pieces;
}

// --- Rows ---

namespace {

// The line and category that hold most of a segment.
struct Holder {
  MemoryCategory category = MemoryCategory::kEnd;
  uint32_t site = 0;
  uint64_t bytes = 0;
};

Holder LargestHolder(const AddressMap& map, const MemorySegment& segment, const MemorySites& sites,
                     const MemoryCategories& categories) {
  std::map<std::pair<uint32_t, MemoryCategory>, uint64_t> held;
  Holder largest;
  for (uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
    const MemoryBlock& block = map.blocks[b];
    if (block.state != MemoryBlockState::kAllocated) continue;
    held[{sites.Of(block.stack), CategoryOf(categories, map.owners[b])}] += block.size;
  }
  for (const auto& [of, bytes] : held) {
    if (bytes > largest.bytes) largest = {of.second, of.first, bytes};
  }
  return largest;
}

// What the device gets back of a free block.
uint64_t ReleasableBytes(const MemorySegment& segment, const MemoryBlock& block,
                         const MemorySnapshot& snapshot) {
  if (snapshot.lanes[segment.lane].is_private()) return 0;
  if (!segment.is_expandable) return block.size == segment.size ? block.size : 0;
  const uint64_t page = segment.is_small ? kSmallSegment : snapshot.settings.large_segment;
  const uint64_t offset = block.address - segment.address;
  const uint64_t begin = (offset + page - 1) / page * page;
  const uint64_t end = (offset + block.size) / page * page;
  return end > begin ? end - begin : 0;
}

// The best that a free block of the segment is for the request that failed.
void SetServes(FreeUse use, std::optional<FreeUse>& best) {
  if (!best.has_value() || use < *best) best = use;
}

MemorySegmentRow SegmentRow(const MapMoment& moment, const MemorySnapshot& snapshot,
                            const AddressMap& map, const MemorySegment& segment) {
  const MemoryLane& lane = snapshot.lanes[segment.lane];
  MemorySegmentRow row;
  row.rank = moment.rank;
  row.file = moment.file;
  row.moment = moment.moment;
  row.address = static_cast<int64_t>(segment.address);
  row.pool = segment.is_small ? "small" : "large";
  row.stream = static_cast<int64_t>(lane.stream);
  if (lane.is_private()) {
    row.private_pool = std::to_string(lane.pool_first) + "." + std::to_string(lane.pool_second);
  }
  row.expandable = segment.is_expandable;
  row.bytes = SignedSaturating(segment.size);
  std::optional<FreeUse> serves;
  for (uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
    const MemoryBlock& block = map.blocks[b];
    const int64_t size = SignedSaturating(block.size);
    if (block.state == MemoryBlockState::kAllocated) {
      ++row.blocks;
      row.allocated_bytes += size;
    } else if (block.state == MemoryBlockState::kPending) {
      row.pending_bytes += size;
    } else {
      ++row.free_blocks;
      row.free_bytes += size;
      row.largest_free_bytes = std::max(row.largest_free_bytes, size);
      row.releasable_bytes += SignedSaturating(ReleasableBytes(segment, block, snapshot));
      if (moment.failed != nullptr) {
        LayoutBlock layout;
        layout.size = block.size;
        layout.lane = segment.lane;
        layout.is_small = segment.is_small;
        layout.is_expandable = segment.is_expandable;
        SetServes(UseOf(layout, snapshot.settings, snapshot.lanes, moment.failed->size,
                        moment.failed->lane),
                  serves);
      }
    }
  }
  if (serves.has_value()) row.serves = Name(*serves);
  return row;
}

std::optional<std::string> LineOf(const MemorySites& sites, uint32_t site) {
  std::string text = sites.Get(site).Text();
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

void AddSegmentRows(const MapMoment& moment, const MemorySnapshot& snapshot, int64_t device,
                    const AddressMap& map, const MemorySites& sites,
                    const MemoryCategories& categories, std::vector<MemorySegmentRow>& rows) {
  const auto first = static_cast<std::ptrdiff_t>(rows.size());
  for (const MemorySegment& segment : map.segments) {
    MemorySegmentRow row = SegmentRow(moment, snapshot, map, segment);
    row.device = device;
    const Holder holder = LargestHolder(map, segment, sites, categories);
    if (holder.bytes > 0) {
      row.category = Name(holder.category);
      row.line = LineOf(sites, holder.site);
      row.line_bytes = SignedSaturating(holder.bytes);
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin() + first, rows.end(),
                   [](const MemorySegmentRow& a, const MemorySegmentRow& b) {
                     return a.free_bytes > b.free_bytes;
                   });
}

void AddMapRows(const MapMoment& moment, int64_t device, const std::vector<MapPiece>& pieces,
                const MemorySites& sites, std::vector<MemoryMapRow>& rows) {
  for (const MapPiece& piece : pieces) {
    const size_t kind = piece.kind();
    MemoryMapRow row;
    row.rank = moment.rank;
    row.device = device;
    row.moment = moment.moment;
    row.address = static_cast<int64_t>(piece.address);
    row.segment = piece.segment;
    row.category = kind == MapPiece::kFree      ? std::string_view("free")
                   : kind == MapPiece::kPending ? std::string_view("pending")
                                                : Name(static_cast<MemoryCategory>(kind));
    row.bytes = SignedSaturating(piece.total());
    row.free_bytes = SignedSaturating(piece.bytes[MapPiece::kFree]);
    row.blocks = SignedSaturating(piece.blocks);
    if (piece.largest > 0) row.line = LineOf(sites, sites.Of(piece.stack));
    rows.push_back(std::move(row));
  }
}

}  // namespace borescope::internal::postmortem
