// Walks the rows of a relation that pass the filters of a plan, in the order of the plan.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/query/plan.h"

namespace borescope::internal::query {

// When a statement has to end: at a time, or as a stop is requested. Reading asks for it as well as
// SQLite: a scan that finds nothing takes long without a step of SQLite's own.
struct Deadline {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> at;

  bool passed() const { return (at.has_value() && Clock::now() >= *at) || IsStopRequested(); }
};

// The value a column is compared with.
struct FilterValue {
  enum class Kind : uint8_t {
    kAnything,  // cannot be compared here: everything passes, and SQLite decides
    kNothing,   // NULL: nothing compares with it
    kNumber,
    kText,
  };
  Kind kind = Kind::kAnything;
  int64_t number = 0;
  std::string_view text;  // copied
};

class RowCursor {
 public:
  RowCursor(const Relation& relation, Ranks ranks, RowOrders& orders, const Deadline& deadline)
      : relation_(relation), ranks_(ranks), orders_(orders), deadline_(deadline) {}

  // Stands on the first row afterwards. `values`: one per filter of the plan.
  void Start(const Plan& plan, std::span<const FilterValue> values);
  void Next() {
    ++position_;
    Settle();
  }

  bool at_end() const { return at_end_; }
  bool timed_out() const { return timed_out_; }

  const RankRows& rank() const { return ranks_[rank_]; }
  uint32_t row() const { return row_; }
  uint64_t row_id() const { return (uint64_t{rank_} << 32) | row_; }
  Cell Get(size_t column) {
    return in_order_ ? GetInOrder(column) : relation_.columns[column].get(rank(), row_);
  }

 private:
  // Sorted rows lie all over memory. Reading the cells of some rows ahead at once lets the
  // processor wait for many of them at a time.
  static constexpr size_t kAhead = 32;
  struct Ahead {
    size_t first = 0;
    size_t count = 0;
    std::array<Cell, kAhead> cells;
  };

  struct Filter {
    uint8_t column;
    Comparison comparison;
    FilterValue::Kind kind;
    int64_t number;
    std::string text;
    std::vector<int64_t> ids;  // per rank: StringId of `text`, -1 where it does not occur
  };

  void AddFilter(const PlannedFilter& planned, const FilterValue& value);
  bool StartSearch(const Plan& plan, std::span<const FilterValue> values);
  bool EnterRank();  // sets the bounds of a rank; false when none of its rows can pass
  void Settle();     // goes on to the next row that passes, from here
  void SettleInOrder();
  void SettleInRank();
  Cell GetInOrder(size_t column);
  bool Passes();
  bool PassesFilter(const Filter& filter);
  bool Tick();  // false when time is up

  const Relation& relation_;
  Ranks ranks_;
  RowOrders& orders_;
  const Deadline& deadline_;

  std::vector<Filter> filters_;
  bool in_order_ = false;
  std::span<const RowRef> sorted_;  // what is walked when in_order_
  std::vector<Ahead> ahead_;        // per column, when in_order_
  size_t position_ = 0;             // in sorted_, or the row of rank_
  size_t end_ = 0;                  // of the rows of rank_
  uint32_t rank_ = 0;
  uint32_t row_ = 0;
  uint32_t skipped_ = 0;
  bool at_end_ = true;
  bool timed_out_ = false;
};

}  // namespace borescope::internal::query
