// Walks the rows of a relation that pass the filters of a plan, in the order of the plan.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/base/stop.h"
#include "borescope/query/relations/relation.h"

struct sqlite3_index_info;  // NOLINT(readability-identifier-naming): of SQLite

namespace borescope::internal::query {

// The rows of a relation sorted by columns, made when a query first gains from it and kept: what
// lets SQLite group millions of rows without sorting them, and find rows by a number or a name.

struct RowRef {
  uint32_t rank;  // index into the ranks of the run
  uint32_t row;
};

using Ranks = std::span<const RankRows>;
using ColumnList = std::vector<uint8_t>;  // numbers of columns, the first one most significant

// Whether rows can be sorted by the column: not by real numbers.
inline bool IsSortable(const ColumnSpec& column) { return column.type != ColumnType::kReal; }

// NULL before any number or text; texts by their bytes. The order of SQLite.
std::strong_ordering CompareCell(const Cell& cell, const Trace& trace, int64_t number);
std::strong_ordering CompareCell(const Cell& cell, const Trace& trace, std::string_view text);

// Not thread-safe. Memory that runs out is thrown (std::bad_alloc).
class RowOrders {
 public:
  RowOrders(const Relation& relation, Ranks ranks) : relation_(relation), ranks_(ranks) {}

  // All rows, by these columns, then by rank and id. REQUIRES: the columns are sortable.
  std::span<const RowRef> By(const ColumnList& columns);

  // The rows whose `column` is `value`, a number or a text, by rank and id.
  template <class Value>
  std::span<const RowRef> Equal(uint8_t column, Value value);

  // Counts a search for a value of this column; true once there were enough of them for sorting to
  // pay.
  bool IsWorthSorting(uint8_t column);

 private:
  std::vector<RowRef> Make(const ColumnList& columns) const;

  const Relation& relation_;
  Ranks ranks_;
  std::map<ColumnList, std::vector<RowRef>> orders_;
  std::map<uint8_t, int> searches_;
};

// What SQLite asks of a relation before it reads: which comparisons the relation makes itself, and
// in which order its rows come. Passed from planning to reading as text.

enum class Comparison : uint8_t { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct PlannedFilter {
  uint8_t column;
  Comparison comparison;
};

struct Plan {
  std::vector<PlannedFilter> filters;  // in the order of the values SQLite will pass
  ColumnList order;                    // empty: by rank and id
};

std::string PlanText(const Plan& plan);
// REQUIRES: `text` is from PlanText.
Plan ParsePlan(std::string_view text);

// Fills in the answer to SQLite's question and returns the plan. Comparisons are of integers, and
// of equality of texts; SQLite checks again what passes.
Plan MakePlan(const Relation& relation, Ranks ranks, sqlite3_index_info& question);

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
    kString,
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

// The relations as virtual tables of SQLite: read-only, nothing is copied.

// What the virtual tables of one database read from. Has to outlive the database, without moving.
class TableData {
 public:
  explicit TableData(std::span<const RankData> ranks);
  TableData(const TableData&) = delete;
  TableData& operator=(const TableData&) = delete;

  // One relation with its orders; what a virtual table is made of.
  struct Source {
    const Relation& relation;
    const TableData& data;
    RowOrders orders;
  };

  Ranks ranks() const { return ranks_; }
  std::deque<Source>& sources() { return sources_; }
  Deadline& deadline() { return deadline_; }
  const Deadline& deadline() const { return deadline_; }

 private:
  std::vector<RankRows> ranks_;
  std::deque<Source> sources_;
  Deadline deadline_;
};

// Makes every relation a table of `database`.
Result<void> RegisterTables(SqlDatabase& database, TableData& data);

}  // namespace borescope::internal::query
