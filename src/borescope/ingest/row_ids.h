// RowIds: the ids of a table's rows, for lookups. Ids of databases mostly increase with few gaps,
// so runs of consecutive ids are stored; they are mostly looked up in the order in which they were
// written, so the last run is tried first. For any file, a lookup takes at most O(log rows).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace borescope::internal {

class RowIds {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Adds the id of the next row; rows are numbered from 0.
  void Add(int64_t id) {
    const bool is_above = runs_.empty() || id > runs_.back().Last();
    if (!runs_.empty() && is_above && runs_.back().Offset(id) == runs_.back().count) {
      ++runs_.back().count;
    } else {
      is_sorted_ &= is_above;
      runs_.push_back({id, 1, rows_});
    }
    ++rows_;
  }
  // Call once after all ids were added. Returns how many rows repeat an earlier id; these cannot be
  // found, because the first counts.
  size_t Finish();

  // The row of `id`, kNone if there is none. Caches the position: not thread-safe.
  uint32_t Find(int64_t id) {
    return last_ < runs_.size() && runs_[last_].Has(id) ? runs_[last_].RowOf(id)
                                                        : FindElsewhere(id);
  }

  size_t size() const { return rows_; }

 private:
  struct Run {
    int64_t first;
    uint32_t count;
    uint32_t row;  // of `first`

    int64_t Last() const { return first + (int64_t{count} - 1); }
    // Modulo 2^64: huge for smaller ids.
    uint64_t Offset(int64_t id) const {
      return static_cast<uint64_t>(id) - static_cast<uint64_t>(first);
    }
    bool Has(int64_t id) const { return Offset(id) < count; }
    uint32_t RowOf(int64_t id) const { return row + static_cast<uint32_t>(Offset(id)); }
  };

  uint32_t FindElsewhere(int64_t id);
  void Sort();

  std::vector<Run> runs_;
  size_t last_ = 0;
  uint32_t rows_ = 0;
  bool is_sorted_ = true;
};

}  // namespace borescope::internal
