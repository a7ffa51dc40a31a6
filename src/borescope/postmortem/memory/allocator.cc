#include "borescope/postmortem/memory/allocator.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "borescope/base/check.h"

namespace borescope::internal::postmortem {

namespace {

uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

uint64_t Log2(uint64_t value) { return static_cast<uint64_t>(std::bit_width(value)) - 1; }

// Up to the next of `divisions` equal steps between two powers of two.
uint64_t RoundToDivision(uint64_t size, uint64_t divisions) {
  if (std::has_single_bit(size)) return size;
  const uint64_t power = std::bit_floor(size);
  const uint64_t step = power >> Log2(divisions);
  return step == 0 ? power * 2 : RoundUp(size, step);
}

}  // namespace

uint64_t RoundRequest(uint64_t requested, const AllocatorSettings& settings) {
  if (requested < kSmallestBlock) return kSmallestBlock;
  const uint64_t log = Log2(requested);
  const size_t interval = log < 20 ? 0 : std::min<size_t>(log - 20, settings.divisions.size() - 1);
  const uint64_t divisions = settings.divisions[interval];
  if (divisions > 1 && requested > kSmallestBlock * divisions) {
    return RoundToDivision(requested, divisions);
  }
  return RoundUp(requested, kSmallestBlock);
}

uint64_t SegmentSize(uint64_t size, const AllocatorSettings& settings) {
  if (size <= kSmallRequest) return kSmallSegment;
  return size < kLargeRequest ? settings.large_segment : RoundUp(size, kSegmentRounding);
}

Allocator::Allocator(const AllocatorSettings& settings, std::span<const MemoryLane> lanes,
                     const AllocatorBounds& bounds)
    : settings_(settings),
      lanes_(lanes),
      bounds_(bounds),
      nodes_(std::make_unique<NodePool>()),
      open_at_(nodes_.get()) {
  lists_.reserve(lanes.size() * 2);
  for (size_t i = 0; i < lanes.size() * 2; ++i) {
    lists_.push_back(
        {std::pmr::set<Key>(nodes_.get()), std::pmr::map<uint64_t, uint32_t>(nodes_.get())});
  }
}

// --- Blocks ---

uint32_t Allocator::NewBlock(const Block& block) {
  if (unused_blocks_.empty()) {
    blocks_.push_back(block);
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  const uint32_t id = unused_blocks_.back();
  unused_blocks_.pop_back();
  blocks_[id] = block;
  return id;
}

void Allocator::DropBlock(uint32_t block) {
  blocks_[block].owner = kNoIndex;
  blocks_[block].state = BlockState::kFree;
  unused_blocks_.push_back(block);
}

void Allocator::Insert(uint32_t block) {
  Block& inserted = blocks_[block];
  List& list = lists_[segments_[inserted.segment].list];
  if (has_open_at_) open_at_.emplace(inserted.address, block);
  if (inserted.state == BlockState::kUnmapped) {
    list.unmapped.emplace(inserted.address, block);
  } else {
    inserted.searches = searches_;
    releasable_ += IsReleasable(inserted) ? 1 : 0;
    list.free.insert({inserted.size, inserted.address, block});
  }
}

void Allocator::Remove(uint32_t block) {
  const Block& removed = blocks_[block];
  List& list = lists_[segments_[removed.segment].list];
  if (has_open_at_) open_at_.erase(removed.address);
  if (removed.state == BlockState::kUnmapped) {
    list.unmapped.erase(removed.address);
  } else {
    releasable_ -= IsReleasable(removed) ? 1 : 0;
    list.free.erase({removed.size, removed.address, block});
  }
}

// Cuts a block, which is in no list, in two: its front with `size` bytes keeps the id, the rest is
// returned, in no list either.
uint32_t Allocator::SplitFront(uint32_t block, uint64_t size) {
  Block rest = blocks_[block];
  rest.address += size;
  rest.size -= size;
  rest.prev = block;
  const uint32_t id = NewBlock(rest);
  blocks_[block].size = size;
  blocks_[block].next = id;
  if (rest.next != kNoIndex) blocks_[rest.next].prev = id;
  return id;
}

// Joins a block, which is in no list, with neighbours of the same state, which are. The block that
// has them all, in no list.
uint32_t Allocator::MergeNeighbours(uint32_t block) {
  const auto same = [&](uint32_t other) {
    return other != kNoIndex && blocks_[other].state == blocks_[block].state;
  };
  const auto absorb_next = [&](uint32_t front) {
    const uint32_t gone = blocks_[front].next;
    blocks_[front].size += blocks_[gone].size;
    blocks_[front].next = blocks_[gone].next;
    if (blocks_[gone].next != kNoIndex) blocks_[blocks_[gone].next].prev = front;
    DropBlock(gone);
  };
  if (same(blocks_[block].next)) {
    Remove(blocks_[block].next);
    absorb_next(block);
  }
  if (const uint32_t front = blocks_[block].prev; same(front)) {
    Remove(front);
    absorb_next(front);
    return front;
  }
  return block;
}

bool Allocator::ShouldSplit(const Block& block, uint64_t size) const {
  const uint64_t rest = block.size - size;
  if (IsSmall(segments_[block.segment].list) || settings_.expandable) {
    return rest >= kSmallestBlock;
  }
  return size < settings_.max_split && rest > kSmallRequest;
}

// --- Searching ---

// What a block of an expandable segment can grow to.
uint64_t Allocator::GrownSize(const Block& block) const {
  const bool grows = block.next != kNoIndex && blocks_[block.next].state == BlockState::kUnmapped;
  return block.size + (grows ? blocks_[block.next].size : 0);
}

uint32_t Allocator::FindIn(const List& list, uint64_t size) const {
  auto found = list.free.lower_bound({size, 0, 0});
  const auto is_expandable = [&](const Key& key) {
    return segments_[blocks_[key.block].segment].is_expandable;
  };
  if (found == list.free.end()) return kNoIndex;
  if (is_expandable(*found)) {
    auto next = std::next(found);
    if (settings_.expandable) {
      while (is_expandable(*found) && next != list.free.end() &&
             GrownSize(blocks_[next->block]) < GrownSize(blocks_[found->block])) {
        found = next++;
        ++walked_;
      }
    } else {
      while (found != list.free.end() && is_expandable(*found)) {
        ++found;
        ++walked_;
      }
      if (found == list.free.end()) return kNoIndex;
    }
  }
  if (size < settings_.max_split && found->size >= settings_.max_split) return kNoIndex;
  if (size >= settings_.max_split && found->size >= size + settings_.max_non_split_rounding) {
    return kNoIndex;
  }
  return found->block;
}

uint32_t Allocator::Find(uint64_t size, uint16_t lane) {
  const uint32_t list = ListOf(size, lane);
  if (!IsSmall(list) && !IsPrivate(list)) ++searches_;
  return FindIn(lists_[list], size);
}

// The first block of the lowest row of open blocks that hold `size` bytes: one without pages, or
// the free one before it.
uint32_t Allocator::FindPages(uint64_t size, const List& list) const {
  uint64_t passed = 0;  // the end of the last row: its blocks begin none that holds more
  for (const auto& [address, block] : list.unmapped) {
    ++walked_;
    if (address < passed) continue;
    const uint32_t before = blocks_[block].prev;
    const uint32_t first = IsOpen(before) ? before : block;
    uint64_t bytes = 0;
    for (uint32_t at = first; bytes < size && IsOpen(at); at = blocks_[at].next) {
      ++walked_;
      bytes += blocks_[at].size;
      passed = blocks_[at].address + blocks_[at].size;
    }
    if (bytes >= size) return first;
  }
  return kNoIndex;
}

std::optional<uint64_t> Allocator::PlanPages(uint64_t size, uint16_t lane) const {
  const uint32_t block = FindPages(size, lists_[ListOf(size, lane)]);
  return block == kNoIndex ? std::nullopt : std::optional(blocks_[block].address);
}

uint32_t Allocator::FreeBlockAt(uint64_t address, uint64_t size) {
  const uint32_t block = OpenBlockAt(address);
  const bool fits =
      IsFree(block) && blocks_[block].address == address && blocks_[block].size >= size;
  return fits ? block : kNoIndex;
}

uint64_t Allocator::Needed(uint64_t size, uint16_t lane) const {
  const uint32_t list = ListOf(size, lane);
  if (!UsesPages(list)) return SegmentSize(size, settings_);
  const uint64_t page = PageSize(list);
  const uint32_t first = FindPages(size, lists_[list]);
  if (first == kNoIndex) return RoundUp(size, page);
  uint64_t needed = 0;
  uint64_t bytes = 0;
  for (uint32_t at = first; bytes < size; at = blocks_[at].next) {
    const uint64_t used = std::min(size - bytes, blocks_[at].size);
    if (blocks_[at].state == BlockState::kUnmapped) needed += RoundUp(used, page);
    bytes += used;
  }
  return needed;
}

// --- Using and giving back ---

uint32_t Allocator::Take(uint32_t block, uint64_t size, uint64_t requested, uint32_t owner) {
  Remove(block);
  if (ShouldSplit(blocks_[block], size)) Insert(SplitFront(block, size));
  Block& taken = blocks_[block];
  taken.state = BlockState::kAllocated;
  taken.requested = requested;
  taken.owner = owner;
  counters_.allocated += taken.size;
  counters_.active += taken.size;
  counters_.requested += requested;
  counters_.peak_allocated = std::max(counters_.peak_allocated, counters_.allocated);
  return block;
}

uint32_t Allocator::Allocate(uint64_t requested, uint16_t lane, uint32_t owner) {
  const uint64_t size = RoundRequest(requested, settings_);
  const uint32_t list = ListOf(size, lane);
  uint32_t block = Find(size, lane);
  if (block == kNoIndex) {
    if (bounds_.limit.has_value() && settings_.gc_threshold > 0) Collect();
    block = New(size, list);
  }
  if (block == kNoIndex && ReleaseAvailable(size, list)) block = New(size, list);
  if (block == kNoIndex) {
    ++counters_.retries;
    EmptyCache();
    block = New(size, list);
  }
  if (block == kNoIndex) {
    ++counters_.ooms;
    return kNoIndex;
  }
  return Take(block, size, requested, owner);
}

void Allocator::RequestFree(uint32_t block, uint32_t owner) {
  Block& freed = blocks_[block];
  if (freed.owner != owner || freed.state != BlockState::kAllocated) return;
  counters_.allocated -= freed.size;
  counters_.requested -= freed.requested;
  freed.state = BlockState::kPending;
  ++waiting_;
  if (pending_.size() > 64 + 2 * waiting_) {  // most were completed in another order
    std::erase_if(pending_,
                  [&](const auto& entry) { return !IsPending(entry.first, entry.second); });
  }
  pending_.emplace_back(block, owner);
}

void Allocator::CompleteFree(uint32_t block, uint32_t owner) {
  if (!IsPending(block, owner)) return;
  Block& freed = blocks_[block];
  --waiting_;
  if (!pending_.empty() && pending_.back().first == block) pending_.pop_back();
  counters_.active -= freed.size;
  freed.state = BlockState::kFree;
  freed.owner = kNoIndex;
  freed.requested = 0;
  Insert(MergeNeighbours(block));
}

void Allocator::CompletePending() {
  const auto pending = std::exchange(pending_, {});
  for (const auto& [block, owner] : pending) {
    CompleteFree(block, owner);
  }
}

// --- The driver ---

bool Allocator::Refuses(uint64_t more) const {
  return bounds_.capacity.has_value() && counters_.reserved + more > *bounds_.capacity;
}

uint32_t Allocator::New(uint64_t size, uint32_t list) {
  const uint64_t bytes = SegmentSize(size, settings_);
  if (bounds_.limit.has_value() && counters_.reserved + bytes > *bounds_.limit) return kNoIndex;
  if (UsesPages(list)) return NewPages(size, list);
  if (Refuses(bytes)) return kNoIndex;
  const uint64_t address = next_address_;
  next_address_ += RoundUp(bytes, kSegmentRounding);
  return AddSegment(address, bytes, static_cast<uint16_t>(list / 2), IsSmall(list));
}

// Pages for a row of open blocks that hold `size` bytes; the free block that then does.
uint32_t Allocator::NewPages(uint64_t size, uint32_t list) {
  uint32_t block = FindPages(size, lists_[list]);
  if (block == kNoIndex) {
    const uint64_t bytes =
        RoundUp(std::max(bounds_.device_bytes + bounds_.device_bytes / 8, size), PageSize(list));
    const uint64_t address = next_address_;
    next_address_ += bytes;
    if (!AddRange(address, bytes, static_cast<uint16_t>(list / 2), IsSmall(list))) return kNoIndex;
    block = FindPages(size, lists_[list]);
  }
  if (blocks_[block].state == BlockState::kUnmapped) {
    block = Map(block, std::min(blocks_[block].size, size));
  }
  while (block != kNoIndex && blocks_[block].size < size) {
    const uint32_t next = blocks_[block].next;
    block = Map(next, std::min(size - blocks_[block].size, blocks_[next].size));
  }
  return block;
}

// Pages for the first `size` bytes of a block without; the free block that has them.
uint32_t Allocator::Map(uint32_t block, uint64_t size) {
  const uint64_t bytes = std::min(RoundUp(size, PageSize(segments_[blocks_[block].segment].list)),
                                  blocks_[block].size);
  if (Refuses(bytes)) return kNoIndex;
  Remove(block);
  if (bytes < blocks_[block].size) Insert(SplitFront(block, bytes));
  blocks_[block].state = BlockState::kFree;
  counters_.reserved += bytes;
  counters_.peak_reserved = std::max(counters_.peak_reserved, counters_.reserved);
  block = MergeNeighbours(block);
  Insert(block);
  return block;
}

// Takes the whole pages from a free block.
void Allocator::Unmap(uint32_t block) {
  const Segment& segment = segments_[blocks_[block].segment];
  const uint64_t page = PageSize(segment.list);
  const uint64_t offset = blocks_[block].address - segment.address;
  const uint64_t begin = RoundUp(offset, page);
  const uint64_t end = (offset + blocks_[block].size) / page * page;
  if (begin < end) UnmapAt(segment.address + begin, end - begin);
}

bool Allocator::UnmapAt(uint64_t address, uint64_t size) {
  uint32_t block = OpenBlockAt(address);
  if (!IsFree(block) || !segments_[blocks_[block].segment].is_expandable ||
      blocks_[block].address + blocks_[block].size - address < size) {
    return false;
  }
  Remove(block);
  if (address > blocks_[block].address) {
    const uint32_t rest = SplitFront(block, address - blocks_[block].address);
    Insert(block);
    block = rest;
  }
  if (blocks_[block].size > size) Insert(SplitFront(block, size));
  blocks_[block].state = BlockState::kUnmapped;
  counters_.reserved -= size;
  Insert(MergeNeighbours(block));
  return true;
}

bool Allocator::MapAt(uint64_t address, uint64_t size) {
  uint32_t block = OpenBlockAt(address);
  if (block == kNoIndex || blocks_[block].state != BlockState::kUnmapped ||
      blocks_[block].address + blocks_[block].size - address < size ||
      (address - blocks_[block].address) % kSmallestBlock != 0) {
    return false;
  }
  if (address > blocks_[block].address) {
    Remove(block);
    const uint32_t rest = SplitFront(block, address - blocks_[block].address);
    Insert(block);
    Insert(rest);
    block = rest;
  }
  Remove(block);
  if (size < blocks_[block].size) Insert(SplitFront(block, size));
  blocks_[block].state = BlockState::kFree;
  counters_.reserved += size;
  counters_.peak_reserved = std::max(counters_.peak_reserved, counters_.reserved);
  Insert(MergeNeighbours(block));
  return true;
}

uint32_t Allocator::AddSegment(uint64_t address, uint64_t size, uint16_t lane, bool is_small) {
  const uint32_t block = Place(address, size, lane, is_small);
  if (block == kNoIndex) return kNoIndex;
  counters_.reserved += size;
  counters_.peak_reserved = std::max(counters_.peak_reserved, counters_.reserved);
  Insert(block);
  return block;
}

bool Allocator::AddRange(uint64_t address, uint64_t size, uint16_t lane, bool is_small) {
  const uint32_t block = Place(address, size, lane, is_small);
  if (block == kNoIndex) return false;
  segments_[blocks_[block].segment].is_expandable = true;
  blocks_[block].state = BlockState::kUnmapped;
  Insert(block);
  return true;
}

// A segment of one block, which is in no list; kNoIndex if it overlaps another segment.
uint32_t Allocator::Place(uint64_t address, uint64_t size, uint16_t lane, bool is_small) {
  if (size == 0 || size > std::numeric_limits<uint64_t>::max() - address) return kNoIndex;
  const auto after = segment_at_.lower_bound(address);
  if (after != segment_at_.end() && after->first < address + size) return kNoIndex;
  if (after != segment_at_.begin()) {
    const Segment& before = segments_[std::prev(after)->second];
    if (before.address + before.size > address) return kNoIndex;
  }
  auto id = static_cast<uint32_t>(segments_.size());
  if (unused_segments_.empty()) {
    segments_.emplace_back();
  } else {
    id = unused_segments_.back();
    unused_segments_.pop_back();
  }
  Block block;
  block.address = address;
  block.size = size;
  block.segment = id;
  const uint32_t first = NewBlock(block);
  segments_[id] = {address, size, first, uint32_t{lane} * 2 + (is_small ? 1 : 0), false};
  segment_at_.emplace(address, id);
  return first;
}

// REQUIRES: the block is free and all of its segment.
void Allocator::Release(uint32_t block) {
  BS_DCHECK(IsFree(block) && IsWhole(blocks_[block]));
  const uint32_t segment = blocks_[block].segment;
  Remove(block);
  counters_.reserved -= blocks_[block].size;
  segment_at_.erase(segments_[segment].address);
  unused_segments_.push_back(segment);
  DropBlock(block);
}

bool Allocator::ReleaseAt(uint64_t address) {
  const auto found = segment_at_.find(address);
  if (found == segment_at_.end()) return false;
  const uint32_t block = segments_[found->second].first;
  if (!IsFree(block) || !IsWhole(blocks_[block])) return false;
  Release(block);
  return true;
}

// Gives back what no stream uses: whole free segments, and whole pages of expandable ones.
void Allocator::EmptyCache() {
  CompletePending();
  for (uint32_t list = 0; list < lists_.size(); ++list) {
    if (IsPrivate(list)) continue;
    const std::vector<Key> free(lists_[list].free.begin(), lists_[list].free.end());
    for (const Key& key : free) {
      if (segments_[blocks_[key.block].segment].is_expandable) {
        Unmap(key.block);
      } else if (IsWhole(blocks_[key.block])) {
        Release(key.block);
      }
    }
  }
}

// The collection of garbage: whole free segments that were not asked for longest.
void Allocator::Collect() {
  const auto threshold =
      static_cast<uint64_t>(settings_.gc_threshold * static_cast<double>(*bounds_.limit));
  if (counters_.reserved <= threshold) return;
  const uint64_t target = counters_.reserved - threshold;
  std::vector<uint32_t> candidates;
  for (uint32_t list = 0; list < lists_.size(); ++list) {
    if (IsSmall(list) || IsPrivate(list)) continue;
    for (const Key& key : lists_[list].free) {
      const Block& block = blocks_[key.block];
      if (IsWhole(block) && !segments_[block.segment].is_expandable) {
        candidates.push_back(key.block);
      }
    }
  }
  uint64_t reclaimed = 0;
  while (reclaimed < target && !candidates.empty()) {
    double ages = 0;
    for (const uint32_t block : candidates) {
      ages += static_cast<double>(searches_ - blocks_[block].searches);
    }
    const double average = ages / static_cast<double>(candidates.size());
    std::vector<uint32_t> left;
    for (const uint32_t block : candidates) {
      if (static_cast<double>(searches_ - blocks_[block].searches) < average) {
        left.push_back(block);
        continue;
      }
      reclaimed += blocks_[block].size;
      Release(block);
    }
    candidates = std::move(left);
  }
}

// With max_split_size: gives back large segments that could not be split, so that the driver has
// room. False if that is not enough.
bool Allocator::ReleaseAvailable(uint64_t size, uint32_t list) {
  if (settings_.max_split == AllocatorSettings::kUnlimited) return false;
  const uint64_t wanted = std::max(size, settings_.max_split);
  std::pmr::set<Key>& free = lists_[list].free;
  const auto can_release = [&](const Key& key) {
    const Block& block = blocks_[key.block];
    return IsWhole(block) && !segments_[block.segment].is_expandable;
  };
  if (const auto found = free.lower_bound({wanted, 0, 0}); found != free.end()) {
    if (can_release(*found)) {
      Release(found->block);
      return true;
    }
  }
  uint64_t released = 0;
  std::vector<Key> large(free.lower_bound({settings_.max_split, 0, 0}), free.end());
  for (auto key = large.rbegin(); key != large.rend() && released < wanted; ++key) {
    if (!can_release(*key)) continue;
    released += key->size;
    Release(key->block);
  }
  return released >= wanted;
}

// --- Looking ---

// The open block that holds the byte at `address`; kNoIndex if it is of a block in use, or of no
// segment.
uint32_t Allocator::OpenBlockAt(uint64_t address) {
  if (!has_open_at_) {
    for (const List& list : lists_) {
      for (const Key& key : list.free) open_at_.emplace(key.address, key.block);
      open_at_.insert(list.unmapped.begin(), list.unmapped.end());
    }
    has_open_at_ = true;
  }
  const auto after = open_at_.upper_bound(address);
  if (after == open_at_.begin()) return kNoIndex;
  const uint32_t block = std::prev(after)->second;
  return address - blocks_[block].address < blocks_[block].size ? block : kNoIndex;
}

uint32_t Allocator::TakeAt(uint64_t address, uint64_t size, uint64_t requested, uint32_t owner,
                           bool is_exact) {
  uint32_t block = OpenBlockAt(address);
  if (block == kNoIndex) return kNoIndex;
  const uint64_t offset = address - blocks_[block].address;
  if (blocks_[block].state != BlockState::kFree || blocks_[block].size - offset < size ||
      offset % kSmallestBlock != 0) {
    return kNoIndex;
  }
  Remove(block);
  if (offset > 0) {
    const uint32_t rest = SplitFront(block, offset);
    Insert(block);
    block = rest;
  }
  if (is_exact && blocks_[block].size > size) Insert(SplitFront(block, size));
  Insert(block);
  return Take(block, size, requested, owner);
}

std::vector<LayoutBlock> Allocator::Layout() const {
  std::vector<LayoutBlock> layout;
  for (const auto& [address, id] : segment_at_) {
    const Segment& segment = segments_[id];
    for (uint32_t at = segment.first; at != kNoIndex; at = blocks_[at].next) {
      const Block& block = blocks_[at];
      layout.push_back({block.address, block.size, block.requested, segment.address,
                        static_cast<uint16_t>(segment.list / 2), IsSmall(segment.list),
                        segment.is_expandable, IsWhole(block), block.state, block.owner});
    }
  }
  return layout;
}

uint64_t Allocator::InactiveSplit() const {
  uint64_t bytes = 0;
  for (const LayoutBlock& block : Layout()) {
    if (block.state == BlockState::kFree && !block.is_whole && !block.is_expandable) {
      bytes += block.size;
    }
  }
  return bytes;
}

}  // namespace borescope::internal::postmortem
