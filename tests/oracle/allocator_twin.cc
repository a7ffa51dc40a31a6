#include "tests/oracle/allocator_twin.h"

#include <algorithm>

namespace borescope::internal::testkit {

namespace {

using postmortem::BlockState;
using postmortem::kMiB;
using postmortem::LayoutBlock;

constexpr size_t kNowhere = SIZE_MAX;

uint64_t Up(uint64_t value, uint64_t step) {
  return value % step == 0 ? value : value + step - value % step;
}

// The block for a request, by trying steps one after the other.
uint64_t Rounded(uint64_t requested, const postmortem::AllocatorSettings& settings) {
  if (requested < 512) return 512;
  size_t interval = 0;
  while (interval + 1 < settings.divisions.size() && requested >= (kMiB << (interval + 1))) {
    ++interval;
  }
  const uint64_t divisions = settings.divisions[interval];
  if (divisions <= 1 || requested <= 512 * divisions) return Up(requested, 512);
  uint64_t power = 1;
  while (power * 2 <= requested) power *= 2;
  if (power == requested) return requested;
  uint64_t steps = 1;  // the largest power of two that is not more than the divisions
  while (steps * 2 <= divisions) steps *= 2;
  uint64_t size = power;
  while (size < requested) size += power / steps;
  return size;
}

}  // namespace

SlowAllocator::SlowAllocator(const postmortem::AllocatorSettings& settings,
                             std::vector<postmortem::MemoryLane> lanes,
                             const postmortem::AllocatorBounds& bounds)
    : settings_(settings), lanes_(std::move(lanes)), bounds_(bounds) {}

size_t SlowAllocator::PlaceOf(uint64_t address) const {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].at.address == address) return i;
  }
  return kNowhere;
}

bool SlowAllocator::IsWhole(size_t place) const {
  const uint64_t segment = blocks_[place].at.segment;
  return std::count_if(blocks_.begin(), blocks_.end(),
                       [&](const Block& block) { return block.at.segment == segment; }) == 1;
}

std::vector<size_t> SlowAllocator::Candidates(uint64_t size, uint16_t lane) const {
  std::vector<size_t> places;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const LayoutBlock& block = blocks_[i].at;
    if (block.state == BlockState::kFree && block.lane == lane &&
        block.is_small == (size <= kMiB)) {
      places.push_back(i);
    }
  }
  std::sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    const LayoutBlock& x = blocks_[a].at;
    const LayoutBlock& y = blocks_[b].at;
    return std::pair(x.size, x.address) < std::pair(y.size, y.address);
  });
  return places;
}

size_t SlowAllocator::Find(uint64_t size, uint16_t lane) {
  if (size > kMiB && !lanes_[lane].is_private()) ++searches_;
  std::vector<size_t> places = Candidates(size, lane);
  std::erase_if(places, [&](size_t place) { return blocks_[place].at.size < size; });
  if (places.empty()) return kNowhere;
  const auto can_be = [&](size_t place) {  // with the pages that could follow
    uint64_t bytes = blocks_[place].at.size;
    if (place + 1 < blocks_.size() && blocks_[place + 1].at.segment == blocks_[place].at.segment &&
        blocks_[place + 1].at.state == BlockState::kUnmapped) {
      bytes += blocks_[place + 1].at.size;
    }
    return bytes;
  };
  size_t chosen = 0;
  if (blocks_[places[0]].at.is_expandable) {
    if (settings_.expandable) {
      while (blocks_[places[chosen]].at.is_expandable && chosen + 1 < places.size() &&
             can_be(places[chosen + 1]) < can_be(places[chosen])) {
        ++chosen;
      }
    } else {
      while (chosen < places.size() && blocks_[places[chosen]].at.is_expandable) ++chosen;
      if (chosen == places.size()) return kNowhere;
    }
  }
  const uint64_t found = blocks_[places[chosen]].at.size;
  if (size < settings_.max_split && found >= settings_.max_split) return kNowhere;
  if (size >= settings_.max_split && found >= size + settings_.max_non_split_rounding) {
    return kNowhere;
  }
  return places[chosen];
}

void SlowAllocator::Split(size_t place, uint64_t size) {
  Block rest = blocks_[place];
  rest.at.address += size;
  rest.at.size -= size;
  rest.freed_at = searches_;
  blocks_[place].at.size = size;
  blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(place) + 1, rest);
}

// Two neighbours of one segment that are both free, or both without pages, are one.
void SlowAllocator::JoinNeighbours() {
  for (size_t i = 1; i < blocks_.size();) {
    const LayoutBlock& before = blocks_[i - 1].at;
    const LayoutBlock& block = blocks_[i].at;
    const bool joins = before.segment == block.segment && before.state == block.state &&
                       (block.state == BlockState::kFree || block.state == BlockState::kUnmapped);
    if (!joins) {
      ++i;
      continue;
    }
    blocks_[i - 1].at.size += block.size;
    blocks_[i - 1].freed_at = searches_;
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(i));
  }
}

void SlowAllocator::Add(uint64_t address, uint64_t size, uint16_t lane, bool is_small,
                        bool is_expandable) {
  Block block;
  block.at.address = address;
  block.at.size = size;
  block.at.segment = address;
  block.at.lane = lane;
  block.at.is_small = is_small;
  block.at.is_expandable = is_expandable;
  block.at.state = is_expandable ? BlockState::kUnmapped : BlockState::kFree;
  block.freed_at = searches_;
  blocks_.push_back(block);
  std::sort(blocks_.begin(), blocks_.end(),
            [](const Block& a, const Block& b) { return a.at.address < b.at.address; });
}

bool SlowAllocator::Allocate(uint64_t requested, uint16_t lane, uint32_t owner) {
  happened.clear();
  completed.clear();
  const uint64_t size = Rounded(requested, settings_);
  size_t place = Find(size, lane);
  if (place == kNowhere && bounds_.limit && settings_.gc_threshold > 0) Collect();
  if (place == kNowhere) place = Grow(size, lane);
  if (place == kNowhere && ReleaseLarge(size, lane)) place = Grow(size, lane);
  if (place == kNowhere) {
    ++retries;
    EmptyCache();
    place = Grow(size, lane);
  }
  if (place == kNowhere) {
    ++ooms;
    return false;
  }
  const uint64_t rest = blocks_[place].at.size - size;
  const bool splits = size <= kMiB || settings_.expandable
                          ? rest >= 512
                          : size < settings_.max_split && rest > kMiB;
  if (splits) Split(place, size);
  blocks_[place].at.state = BlockState::kAllocated;
  blocks_[place].at.requested = requested;
  blocks_[place].at.owner = owner;
  return true;
}

void SlowAllocator::RequestFree(uint32_t owner) {
  for (Block& block : blocks_) {
    if (block.at.owner == owner && block.at.state == BlockState::kAllocated) {
      block.at.state = BlockState::kPending;
    }
  }
}

void SlowAllocator::CompleteFree(uint32_t owner) {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].at.owner == owner && blocks_[i].at.state == BlockState::kPending) {
      Free(i);
      return;
    }
  }
}

void SlowAllocator::Free(size_t place) {
  LayoutBlock& block = blocks_[place].at;
  block.state = BlockState::kFree;
  block.owner = postmortem::kNoIndex;
  block.requested = 0;
  blocks_[place].freed_at = searches_;
  JoinNeighbours();
}

size_t SlowAllocator::Grow(uint64_t size, uint16_t lane) {
  const uint64_t bytes = size <= kMiB       ? 2 * kMiB
                         : size < 10 * kMiB ? settings_.large_segment
                                            : Up(size, 2 * kMiB);
  if (bounds_.limit && Reserved() + bytes > *bounds_.limit) return kNowhere;
  if (settings_.expandable && !lanes_[lane].is_private()) return GrowPages(size, lane);
  if (bounds_.capacity && Reserved() + bytes > *bounds_.capacity) return kNowhere;
  const uint64_t address = next_address_;
  next_address_ += Up(bytes, 2 * kMiB);
  Add(address, bytes, lane, size <= kMiB, false);
  happened.push_back({true, false, address, bytes, lane});
  return PlaceOf(address);
}

size_t SlowAllocator::GrowPages(uint64_t size, uint16_t lane) {
  const uint64_t page = size <= kMiB ? 2 * kMiB : settings_.large_segment;
  const auto is_open = [&](size_t i, uint64_t segment) {
    return i < blocks_.size() && blocks_[i].at.segment == segment &&
           (blocks_[i].at.state == BlockState::kFree ||
            blocks_[i].at.state == BlockState::kUnmapped);
  };
  const auto first_of_row = [&] {
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const LayoutBlock& block = blocks_[i].at;
      if (block.state != BlockState::kUnmapped || block.lane != lane ||
          block.is_small != (size <= kMiB)) {
        continue;
      }
      const size_t first = i > 0 && is_open(i - 1, block.segment) ? i - 1 : i;
      uint64_t bytes = 0;
      for (size_t at = first; is_open(at, block.segment); ++at) bytes += blocks_[at].at.size;
      if (bytes >= size) return first;
    }
    return kNowhere;
  };
  size_t first = first_of_row();
  if (first == kNowhere) {
    const uint64_t bytes =
        Up(std::max(bounds_.device_bytes + bounds_.device_bytes / 8, size), page);
    Add(next_address_, bytes, lane, size <= kMiB, true);
    next_address_ += bytes;
    first = first_of_row();
  }
  // Page by page is the same as in one piece, but where the driver refuses in the middle: pages of
  // one piece come together or not at all.
  const uint64_t start = blocks_[first].at.address;
  while (true) {
    const size_t at = PlaceOf(start);
    if (blocks_[at].at.state == BlockState::kFree && blocks_[at].at.size >= size) return at;
    const bool begins = blocks_[at].at.state == BlockState::kUnmapped;
    const size_t next = begins ? at : at + 1;
    const uint64_t wanted = begins ? size : size - blocks_[at].at.size;
    const uint64_t bytes =
        std::min(Up(std::min(wanted, blocks_[next].at.size), page), blocks_[next].at.size);
    if (bounds_.capacity && Reserved() + bytes > *bounds_.capacity) return kNowhere;
    happened.push_back({true, true, blocks_[next].at.address, bytes, lane});
    if (bytes < blocks_[next].at.size) Split(next, bytes);
    blocks_[next].at.state = BlockState::kFree;
    blocks_[next].freed_at = searches_;
    JoinNeighbours();
  }
}

void SlowAllocator::Release(size_t place) {
  const LayoutBlock& block = blocks_[place].at;
  happened.push_back({false, false, block.address, block.size, block.lane});
  blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(place));
}

void SlowAllocator::EmptyCache() {
  while (true) {
    const auto pending = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& block) {
      return block.at.state == BlockState::kPending;
    });
    if (pending == blocks_.end()) break;
    completed.push_back(pending->at.owner);
    Free(static_cast<size_t>(pending - blocks_.begin()));
  }
  for (size_t i = 0; i < blocks_.size();) {
    const LayoutBlock block = blocks_[i].at;
    if (block.state != BlockState::kFree || lanes_[block.lane].is_private()) {
      ++i;
      continue;
    }
    if (!block.is_expandable) {
      if (IsWhole(i)) {
        Release(i);
      } else {
        ++i;
      }
      continue;
    }
    const uint64_t page = block.is_small ? 2 * kMiB : settings_.large_segment;
    const uint64_t begin = block.segment + Up(block.address - block.segment, page);
    const uint64_t end = block.segment + (block.address + block.size - block.segment) / page * page;
    if (begin >= end) {
      ++i;
      continue;
    }
    happened.push_back({false, true, begin, end - begin, block.lane});
    size_t middle = i;
    if (begin > block.address) {
      Split(i, begin - block.address);
      middle = i + 1;
    }
    if (end < block.address + block.size) Split(middle, end - begin);
    blocks_[middle].at.state = BlockState::kUnmapped;
    JoinNeighbours();
    i = 0;
  }
}

void SlowAllocator::Collect() {
  const auto threshold =
      static_cast<uint64_t>(settings_.gc_threshold * static_cast<double>(*bounds_.limit));
  if (Reserved() <= threshold) return;
  const uint64_t target = Reserved() - threshold;
  uint64_t reclaimed = 0;
  const auto can_go = [&](size_t i) {
    const LayoutBlock& block = blocks_[i].at;
    return block.state == BlockState::kFree && !block.is_small && !block.is_expandable &&
           !lanes_[block.lane].is_private() && IsWhole(i);
  };
  while (reclaimed < target) {
    double ages = 0;
    double count = 0;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!can_go(i)) continue;
      ages += static_cast<double>(searches_ - blocks_[i].freed_at);
      ++count;
    }
    if (count == 0) return;
    const double average = ages / count;
    for (size_t i = 0; i < blocks_.size();) {
      if (can_go(i) && static_cast<double>(searches_ - blocks_[i].freed_at) >= average) {
        reclaimed += blocks_[i].at.size;
        Release(i);
      } else {
        ++i;
      }
    }
  }
}

bool SlowAllocator::ReleaseLarge(uint64_t size, uint16_t lane) {
  if (settings_.max_split == postmortem::AllocatorSettings::kUnlimited) return false;
  const uint64_t wanted = std::max(size, settings_.max_split);
  const auto can_go = [&](size_t place) {
    return !blocks_[place].at.is_expandable && IsWhole(place);
  };
  for (const size_t place : Candidates(size, lane)) {
    if (blocks_[place].at.size < wanted) continue;
    if (!can_go(place)) break;
    Release(place);
    return true;
  }
  uint64_t released = 0;
  while (released < wanted) {
    std::vector<size_t> places = Candidates(size, lane);
    std::erase_if(places, [&](size_t place) {
      return blocks_[place].at.size < settings_.max_split || !can_go(place);
    });
    if (places.empty()) return false;
    released += blocks_[places.back()].at.size;
    Release(places.back());
  }
  return true;
}

std::vector<LayoutBlock> SlowAllocator::Layout() const {
  std::vector<LayoutBlock> layout;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    layout.push_back(blocks_[i].at);
    layout.back().is_whole = IsWhole(i);
  }
  return layout;
}

uint64_t SlowAllocator::Allocated() const {
  uint64_t bytes = 0;
  for (const Block& block : blocks_) {
    if (block.at.state == BlockState::kAllocated) bytes += block.at.size;
  }
  return bytes;
}

uint64_t SlowAllocator::Active() const {
  uint64_t bytes = Allocated();
  for (const Block& block : blocks_) {
    if (block.at.state == BlockState::kPending) bytes += block.at.size;
  }
  return bytes;
}

uint64_t SlowAllocator::Reserved() const {
  uint64_t bytes = 0;
  for (const Block& block : blocks_) {
    if (block.at.state != BlockState::kUnmapped) bytes += block.at.size;
  }
  return bytes;
}

uint64_t SlowAllocator::Requested() const {
  uint64_t bytes = 0;
  for (const Block& block : blocks_) {
    if (block.at.state == BlockState::kAllocated) bytes += block.at.requested;
  }
  return bytes;
}

}  // namespace borescope::internal::testkit
