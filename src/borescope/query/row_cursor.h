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

// The rows of a relation sorted by columns, made when a query first benefits from it, and kept.
// With these SQLite groups millions of rows without sorting them, and finds rows by a number or a
// name.
struct RowRef {
  uint32_t rank;  // index into the ranks of the run
  uint32_t row;
};

using Ranks = std::span<const RankRows>;
using ColumnList = std::vector<uint8_t>;  // numbers of columns, the first one most significant

// Whether rows can be sorted by the column; false for real numbers.
inline bool IsSortable(const ColumnSpec& column) { return column.type != RelationType::kReal; }

// SQLite's order: NULL before any number or text, texts by their bytes.
std::strong_ordering CompareCell(const Cell& cell, const Trace& trace, int64_t number);
std::strong_ordering CompareCell(const Cell& cell, const Trace& trace, std::string_view text);

// Not thread-safe. Throws std::bad_alloc if memory runs out.
class RowOrders {
 public:
  RowOrders(const Relation& relation, Ranks ranks) : relation_(relation), ranks_(ranks) {}

  // All rows, sorted by these columns, then by rank and id. REQUIRES: the columns are sortable.
  std::span<const RowRef> By(const ColumnList& columns);

  // The rows whose `column` is `value`, a number or a text, by rank and id.
  template <class Value>
  std::span<const RowRef> Equal(uint8_t column, Value value);

  // Counts a search for a value of this column; true once there were enough searches to make
  // sorting worthwhile.
  bool IsWorthSorting(uint8_t column);

 private:
  std::vector<RowRef> Make(const ColumnList& columns) const;

  const Relation& relation_;
  Ranks ranks_;
  std::map<ColumnList, std::vector<RowRef>> orders_;
  std::map<uint8_t, int> searches_;
};

// How a relation is read: which comparisons it makes itself, and in which order its rows come.
// SQLite requests it before reading, and passes it from planning to reading as text.
enum class Comparison : uint8_t { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct PlannedFilter {
  uint8_t column;
  Comparison comparison;
};

struct Plan {
  std::vector<PlannedFilter> filters;  // in the order of the values that SQLite will pass
  ColumnList order;                    // empty: by rank and id
};

std::string PlanText(const Plan& plan);
// REQUIRES: `text` is from PlanText.
Plan ParsePlan(std::string_view text);

// Answers SQLite's question and returns the plan. Relations compare integers, and test texts for
// equality; SQLite checks again the rows that pass.
Plan MakePlan(const Relation& relation, Ranks ranks, sqlite3_index_info& question);

// When a statement has to end: at a time, or when a stop is requested. Reading checks it too, and
// not only SQLite, as a scan that finds nothing takes long without any step of SQLite.
struct Deadline {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> at;

  bool passed() const { return (at.has_value() && Clock::now() >= *at) || IsStopRequested(); }
};

// The value that a column is compared with.
struct FilterValue {
  enum class Kind : uint8_t {
    kAnything,  // cannot be compared here: all rows pass, and SQLite decides
    kNothing,   // NULL: no row compares with it
    kNumber,
    kString,
  };
  Kind kind = Kind::kAnything;
  int64_t number = 0;
  std::string_view text;  // copied by Start
};

class RowCursor {
 public:
  RowCursor(const Relation& relation, Ranks ranks, RowOrders& orders, const Deadline& deadline)
      : relation_(relation), ranks_(ranks), orders_(orders), deadline_(deadline) {}

  // Moves to the first row. `values`: one for each filter of the plan.
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
  // Sorted rows are scattered in memory. Reading the cells of several rows ahead lets the processor
  // wait for many of them at the same time.
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
    std::vector<int64_t> ids;  // per rank: StringId of `text`, -1 if it does not occur
  };

  void AddFilter(const PlannedFilter& planned, const FilterValue& value);
  bool StartSearch(const Plan& plan, std::span<const FilterValue> values);
  bool EnterRank();  // sets the bounds of a rank; false if none of its rows can pass
  void Settle();     // moves to the next row that passes, from here
  void SettleInOrder();
  void SettleInRank();
  Cell GetInOrder(size_t column);
  bool Passes();
  bool PassesFilter(const Filter& filter);
  bool Tick();  // false if the deadline has passed

  const Relation& relation_;
  Ranks ranks_;
  RowOrders& orders_;
  const Deadline& deadline_;

  std::vector<Filter> filters_;
  bool in_order_ = false;
  std::span<const RowRef> sorted_;  // the rows to walk if in_order_
  std::vector<Ahead> ahead_;        // per column, if in_order_
  size_t position_ = 0;             // in sorted_, or the row of rank_
  size_t end_ = 0;                  // of the rows of rank_
  uint32_t rank_ = 0;
  uint32_t row_ = 0;
  uint32_t skipped_ = 0;
  bool at_end_ = true;
  bool timed_out_ = false;
};

// The relations as virtual tables of SQLite: read-only, without copying anything.

// The data of the virtual tables of one database. Must outlive the database, and not move.
class TableData {
 public:
  TableData(std::span<const RankData> ranks, std::span<const Relation> relations);
  TableData(const TableData&) = delete;
  TableData& operator=(const TableData&) = delete;

  // One relation with its orders, for one virtual table.
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
