// Operations on any table: join, merge, sort, cut. Pure functions on values: safe from any thread,
// and the result depends only on the arguments.
//
// Order of cells: numbers by value (NaN above all others), text by bytes, false before true; a
// missing cell comes after every present one, in ascending and in descending order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/table/string_values.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// NumberedTexts: appends texts that have small numbers elsewhere to a text column, where each of
// them is sought once. For tables with a row per event.
class NumberedTexts {
 public:
  // Numbers are below `numbers`. REQUIRES: a column of texts, which outlives this.
  NumberedTexts(Column& column, size_t numbers)
      : column_(column),
        values_(std::get<StringValues>(column.values)),
        places_(numbers, kUnknown) {}

  bool IsOf(const Column& column) const { return &column == &column_; }

  // Appends the text of this number; `text` gives it, and is asked the first time.
  template <class Get>
  void Push(size_t number, const Get& text) {
    uint32_t& place = places_[number];
    if (place == kUnknown) {
      internal::Push(column_, text());
      place = values_.numbers().back();
      return;
    }
    values_.push_number(place);
    if (!column_.missing.empty()) {
      column_.missing.push_back(0);
    }
  }

 private:
  static constexpr uint32_t kUnknown = ~uint32_t{0};

  Column& column_;
  StringValues& values_;
  std::vector<uint32_t> places_;  // by number: which of the column's texts it is
};

// Ranks of texts: numbers that compare as the texts do. Sorting a million rows by them reads each
// text a few times, not at every comparison.

// By row: equal texts have one rank, smaller texts (byte by byte) a smaller one.
std::vector<uint32_t> TextRanks(const StringValues& cells);

// Makes room for this many rows in all: a table with a row per event would grow to twice its size.
void ReserveRows(Table& table, size_t rows);

// The rows of all parts, one part after another. Columns are matched by name, in order of first
// appearance; if a part has no such column its cells are missing. Name, title and the properties of
// a column come from the first part that has them. Associative. Columns with one name must have one
// type (our bug otherwise).
Table Concat(std::span<const Table> parts);

// One row for each distinct combination of the kKey columns, sorted by them in column order. Rows
// with equal keys are combined:
//   kSum      cells are added; integers saturate instead of wrapping round
//   kMin/kMax the smallest or largest counts
//   kDerived  the value stays if all rows agree, else it is missing: the analysis computes it again
// and a missing cell changes nothing, unless all are missing. A missing key is a key of its own.
// Without any key column everything becomes one row.
//
// Associative: any tree of merges over any order of rows gives the same table, as long as sums are
// integers (floating-point addition itself is not associative). kSum needs numbers (our bug
// otherwise).
Table MergeByKey(const Table& table);
Table MergeByKey(std::span<const Table> parts);

// Rows sorted by one column, numbers from large to small, text and flags ascending; ties by the
// remaining columns from left to right, ascending, so that the order is total. `column` is a name
// or a name without its unit ("total" for "total_ns"). kInvalidArgument, listing the existing
// columns, if there is no such column.
Result<Table> SortBy(const Table& table, std::string_view column);

// The column called `name`, or `name` without its unit; nullptr if there is none.
const Column* FindBySortName(const Table& table, std::string_view name);

// Rows sorted by all columns from left to right, ascending: the neutral order.
Table SortAll(const Table& table);

// The first `count` rows.
Table Head(const Table& table, size_t count);

// The rows `rows` in that order. REQUIRES: each < table.rows().
Table TakeRows(const Table& table, std::span<const uint32_t> rows);

// Compares two cells of one column: negative, zero or positive.
int CompareCells(const Column& column, size_t a, size_t b);

}  // namespace borescope::internal
