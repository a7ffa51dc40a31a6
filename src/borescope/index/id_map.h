// IdMap64: maps recorded 64-bit ids to row numbers. Dense ids, as those of one process, are stored
// as bits that mark the ids and an array of their rows, others by open addressing. Insert
// everything, then look up.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "borescope/base/column_data.h"
#include "borescope/base/hash/input_hash.h"

namespace borescope::internal {

class IdMap64 {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  IdMap64() : IdMap64(0) {}
  // Room for `count` ids; no more may be inserted.
  explicit IdMap64(size_t count) : slots_(std::bit_ceil(count * 2 + 2)), mask_(slots_.size() - 1) {}
  // Room for those of `ids` that `is_id` accepts; no others may be inserted.
  template <class IsId>
  IdMap64(std::span<const int64_t> ids, const IsId& is_id) : IdMap64(0) {
    int64_t first = std::numeric_limits<int64_t>::max();
    int64_t last = std::numeric_limits<int64_t>::min();
    for (const int64_t id : ids) {
      first = is_id(id) ? std::min(first, id) : first;
      last = is_id(id) ? std::max(last, id) : last;
    }
    if (!IsDense(ids.size(), first, last)) {
      *this = IdMap64(ids.size());
      return;
    }
    first_ = static_cast<uint64_t>(first);
    words_.resize(Place(last) / kWordBits + 1);
    for (const int64_t id : ids) {
      if (is_id(id)) {
        words_[Place(id) / kWordBits] |= uint64_t{1} << Place(id) % kWordBits;
      }
    }
    CountRows();
  }

  // The row stored for `id`; kNone if it is new. Write through the reference to set it.
  uint32_t& operator[](int64_t id) {
    if (!words_.empty()) {
      return rows_[RowOf(Place(id))];
    }
    Slot& slot = slots_[Find(id)];
    slot.id = id;
    return slot.row;
  }
  uint32_t Get(int64_t id) const {
    if (words_.empty()) {
      return slots_[Find(id)].row;
    }
    const uint64_t place = Place(id);
    const bool is_there = place / kWordBits < words_.size() &&
                          (words_[place / kWordBits] >> place % kWordBits & 1) != 0;
    return is_there ? rows_[RowOf(place)] : kNone;
  }

 private:
  struct Slot {
    int64_t id = 0;
    uint32_t row = kNone;
  };

  static constexpr uint64_t kWordBits = 64;

  // Whether bits for all possible ids take no more than the slots would.
  static bool IsDense(size_t count, int64_t first, int64_t last) {
    constexpr size_t kMostPerId = 64;
    return first <= last &&
           static_cast<uint64_t>(last) - static_cast<uint64_t>(first) < count * kMostPerId;
  }

  uint64_t Place(int64_t id) const { return static_cast<uint64_t>(id) - first_; }

  // REQUIRES: its bit is set.
  size_t RowOf(uint64_t place) const {
    const uint64_t below = (uint64_t{1} << place % kWordBits) - 1;
    return before_[place / kWordBits] +
           static_cast<size_t>(std::popcount(words_[place / kWordBits] & below));
  }

  void CountRows() {
    before_.ResizeForOverwrite(words_.size());
    uint32_t rows = 0;
    for (size_t word = 0; word < words_.size(); ++word) {
      before_[word] = rows;
      rows += static_cast<uint32_t>(std::popcount(words_[word]));
    }
    rows_.assign(rows, kNone);
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

  // Of dense ids; empty if the slots are used.
  uint64_t first_ = 0;
  ColumnData<uint64_t> words_;   // a bit for each possible id, from first_ on
  ColumnData<uint32_t> before_;  // per word: how many ids there are before it
  ColumnData<uint32_t> rows_;    // of the ids in their order

  ColumnData<Slot> slots_;
  size_t mask_;
};

}  // namespace borescope::internal
