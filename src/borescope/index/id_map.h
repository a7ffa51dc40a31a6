// IdMap64: recorded 64-bit ids to row numbers: an array if the ids are dense, as those of one
// process are, else open addressing. Insert everything, then look up.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "borescope/base/column_data.h"
#include "borescope/base/hash/input_hash.h"

namespace borescope::internal {

class IdMap64 {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  IdMap64() : IdMap64(0) {}
  // Room for `count` ids; no more may be inserted.
  explicit IdMap64(size_t count) : slots_(std::bit_ceil(count * 2 + 2)), mask_(slots_.size() - 1) {}
  // The same for ids between `first` and `last`.
  IdMap64(size_t count, int64_t first, int64_t last)
      : IdMap64(IsDense(count, first, last) ? 0 : count) {
    if (IsDense(count, first, last)) {
      first_ = static_cast<uint64_t>(first);
      const size_t ids = static_cast<uint64_t>(last) - first_ + 1;
      rows_.assign(ids, kNone);
    }
  }

  // The row stored for `id`; kNone if it is new. Write through the reference to set it.
  uint32_t& operator[](int64_t id) {
    if (!rows_.empty()) {
      return rows_[static_cast<uint64_t>(id) - first_];
    }
    Slot& slot = slots_[Find(id)];
    slot.id = id;
    return slot.row;
  }
  uint32_t Get(int64_t id) const {
    if (!rows_.empty()) {
      const uint64_t place = static_cast<uint64_t>(id) - first_;
      return place < rows_.size() ? rows_[place] : kNone;
    }
    return slots_[Find(id)].row;
  }

 private:
  struct Slot {
    int64_t id = 0;
    uint32_t row = kNone;
  };

  // Whether an array of all possible ids is no larger than the slots may be: 64 bytes for each id.
  static bool IsDense(size_t count, int64_t first, int64_t last) {
    constexpr size_t kMostPerId = 16;
    return first <= last &&
           static_cast<uint64_t>(last) - static_cast<uint64_t>(first) < count * kMostPerId;
  }

  // Ids are mostly consecutive, and looked up in that order: runs of kRun neighbours stay together
  // in memory. The runs themselves are scattered, because ids of several processes, sessions or
  // merged files differ by a power of two, and would collide in the same slots; by a keyed hash,
  // as nobody shall be able to choose ids that collide.
  size_t Find(int64_t id) const {
    constexpr unsigned kRunBits = 6;
    constexpr uint64_t kInRun = (uint64_t{1} << kRunBits) - 1;
    const auto bits = static_cast<uint64_t>(id);
    const uint64_t run = HashNumber(bits >> kRunBits);
    size_t at = static_cast<size_t>((run << kRunBits) | (bits & kInRun)) & mask_;
    while (slots_[at].row != kNone && slots_[at].id != id) {
      at = (at + 1) & mask_;
    }
    return at;
  }

  ColumnData<uint32_t> rows_;  // by id, from first_ on; empty if the slots are used
  uint64_t first_ = 0;
  ColumnData<Slot> slots_;
  size_t mask_;
};

}  // namespace borescope::internal
