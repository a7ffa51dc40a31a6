#include "borescope/analysis/core/grouper.h"

#include "borescope/base/check.h"
#include "borescope/base/hash/input_hash.h"
#include "borescope/base/row_limit.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kFree = ~uint32_t{0};

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

Grouper::Grouper(size_t width) : width_(width), slots_(64, kFree) { BS_CHECK(width > 0); }

uint32_t Grouper::Find(std::span<const int64_t> key) {
  BS_DCHECK(key.size() == width_);
  const size_t mask = slots_.size() - 1;
  size_t slot = HashNumbers(key) & mask;
  for (; slots_[slot] != kFree; slot = (slot + 1) & mask) {
    if (AreEqual(key, this->key(slots_[slot]))) {
      return slots_[slot];
    }
  }
  const uint32_t group = CheckedRows(size_ + 1, "groups") - 1;
  ++size_;
  keys_.insert(keys_.end(), key.begin(), key.end());
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
    size_t slot = HashNumbers(key(group)) & mask;
    while (slots_[slot] != kFree) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = group;
  }
}

}  // namespace borescope::internal
