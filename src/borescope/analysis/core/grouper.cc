#include "borescope/analysis/core/grouper.h"

#include <algorithm>

#include "borescope/base/check.h"
#include "borescope/base/hash/input_hash.h"
#include "borescope/base/row_limit.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kFree = ~uint32_t{0};
// A tuple of one number below this has a place of its own: ids of names are small and dense.
constexpr uint64_t kPlaces = 1 << 16;

// Tuples are short: a loop beats a call.
bool AreEqual(std::span<const int64_t> a, std::span<const int64_t> b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Grouper::IsPlaced(std::span<const int64_t> key) const {
  return width_ == 1 && static_cast<uint64_t>(key[0]) < kPlaces;
}

Grouper::Grouper(size_t width) : width_(width), slots_(64, kFree) { BS_CHECK(width > 0); }

uint32_t Grouper::Add(std::span<const int64_t> key) {
  const uint32_t group = CheckedRows(size_ + 1, "groups") - 1;
  ++size_;
  keys_.insert(keys_.end(), key.begin(), key.end());
  return group;
}

uint32_t Grouper::FindPlaced(std::span<const int64_t> key) {
  const auto place = static_cast<size_t>(key[0]);
  if (place >= places_.size()) {
    places_.resize(std::max(place + 1, 2 * places_.size()), kFree);
  }
  if (places_[place] == kFree) {
    places_[place] = Add(key);
  }
  return places_[place];
}

uint32_t Grouper::Find(std::span<const int64_t> key) {
  BS_DCHECK(key.size() == width_);
  if (IsPlaced(key)) {
    return FindPlaced(key);
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = HashNumbers(key) & mask;
  for (; slots_[slot] != kFree; slot = (slot + 1) & mask) {
    if (AreEqual(key, this->key(slots_[slot]))) {
      return slots_[slot];
    }
  }
  const uint32_t group = Add(key);
  slots_[slot] = group;
  if (size_ * 2 > slots_.size()) {
    Grow();
  }
  return group;
}

void Grouper::Grow() {
  slots_.assign(slots_.size() * 2, kFree);
  const size_t mask = slots_.size() - 1;
  for (uint32_t group = 0; group < size_; ++group) {
    if (IsPlaced(key(group))) {
      continue;
    }
    size_t slot = HashNumbers(key(group)) & mask;
    while (slots_[slot] != kFree) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = group;
  }
}

}  // namespace borescope::internal
