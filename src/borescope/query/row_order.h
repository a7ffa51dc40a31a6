// The rows of a relation sorted by columns, made when a query first gains from it and kept: what
// lets SQLite group millions of rows without sorting them, and find rows by a number or a name.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "borescope/query/relations/relation.h"

namespace borescope::internal::query {

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

}  // namespace borescope::internal::query
