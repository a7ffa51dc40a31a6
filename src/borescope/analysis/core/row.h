// Row: appends one row to a table, cell by cell from left to right, so that columns are named once.
//
//   Row(table).Int(rank).Text(name).Missing();
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/table/table.h"
#include "borescope/table/table_ops.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// RankSet: some of the ranks of a run, by their place among all, a bit each.
class RankSet {
 public:
  explicit RankSet(size_t ranks) : words_((ranks + 63) / 64) {}

  // REQUIRES: rank < ranks.
  void Add(uint32_t rank) { words_[rank / 64] |= uint64_t{1} << (rank % 64); }
  // REQUIRES: both are of the same number of ranks.
  void Add(const RankSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
  }
  int64_t size() const {
    return std::accumulate(words_.begin(), words_.end(), int64_t{0},
                           [](int64_t sum, uint64_t word) { return sum + std::popcount(word); });
  }

 private:
  std::vector<uint64_t> words_;
};

class Row {
 public:
  explicit Row(Table& table) : table_(table) {}
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  // A row must be complete, unless memory ran out on the way.
  ~Row() { BS_CHECK(next_ == table_.columns.size() || std::uncaught_exceptions() > 0); }

  Row& Int(int64_t value) { return Next(value); }
  Row& Count(size_t value) { return Next(static_cast<int64_t>(value)); }
  Row& Float(double value) { return Next(value); }
  Row& Bool(bool value) { return Next(value); }
  Row& Text(std::string_view value) { return Next(value); }
  // The text of this number; `text` gives it, and is asked the first time. REQUIRES: `texts` is of
  // the next column.
  template <class Get>
  Row& Numbered(NumberedTexts& texts, size_t number, const Get& text) {
    [[maybe_unused]] const struct Column& next = Column();
    BS_DCHECK(texts.IsOf(next));
    texts.Push(number, text);
    return *this;
  }
  Row& Missing() {
    PushMissing(Column());
    return *this;
  }
  // A number that may not have been recorded.
  Row& MaybeInt(int64_t value) { return value == kMissing ? Missing() : Int(value); }
  Row& MaybeInt(std::optional<int64_t> value) { return value ? Int(*value) : Missing(); }
  Row& MaybeText(std::string_view value) { return value.empty() ? Missing() : Text(value); }
  // part / whole, or 0 of nothing.
  Row& Share(int64_t part, int64_t whole);
  // The cells that are still to come.
  size_t left() const { return table_.columns.size() - next_; }

 private:
  struct Column& Column() {
    BS_CHECK(next_ < table_.columns.size());
    return table_.columns[next_++];
  }
  template <class T>
  Row& Next(T value) {
    Push(Column(), value);
    return *this;
  }

  Table& table_;
  size_t next_ = 0;
};

// part / whole, or 0 of nothing.
inline double ShareOf(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

inline Row& Row::Share(int64_t part, int64_t whole) { return Float(ShareOf(part, whole)); }

// Integer cells of a column that must be there. REQUIRES: the column exists and holds integers.
inline const IntValues& Ints(const Table& table, std::string_view column) {
  const struct Column* found = table.Find(column);
  BS_CHECK(found != nullptr);
  return std::get<IntValues>(found->values);
}

// The same for numbers with a fraction; missing cells are 0.
inline const FloatValues& Floats(const Table& table, std::string_view column) {
  const struct Column* found = table.Find(column);
  BS_CHECK(found != nullptr);
  return std::get<FloatValues>(found->values);
}

// The same for text.
inline const StringValues& Texts(const Table& table, std::string_view column) {
  const struct Column* found = table.Find(column);
  BS_CHECK(found != nullptr);
  return std::get<StringValues>(found->values);
}

// The columns that say which rank, step, device and stream a row is about. They have the same
// names, and their descriptions begin with the same words, in every table. Their order is rank,
// step, gpu, stream; only `steps`, which programs may read by position, has gpu before step.

// The descriptions, for tables that list their columns. With --by the one of step differs, as there
// it is the step of a launch or a call.
inline constexpr std::string_view kRankDoc = "Rank of the process in the job.";
inline constexpr std::string_view kStepDoc = "Number of the step.";
inline constexpr std::string_view kStepOrNoneDoc =
    "Number of the step; missing for what is in no step.";
inline constexpr std::string_view kGpuDoc = "Device number as recorded.";
inline constexpr std::string_view kGpuOrNoneDoc =
    "Device number as recorded; missing when the rank has no device work.";
inline constexpr std::string_view kStreamDoc = "Stream (queue) of the device.";

// `rank`, as the trace names it.
Column& AddRankKey(Table& table);

// `gpu`, of tables that have rows for devices only.
Column& AddGpuKey(Table& table);

// `gpu`, of tables in which a rank without device work has a row as well.
Column& AddGpuKeyOrNone(Table& table);

// `stream`, the queue of a device.
Column& AddStreamKey(Table& table);

// `step`, of tables in which what is in no step has a row as well.
Column& AddStepKeyOrNone(Table& table);

}  // namespace borescope::internal
