#include "borescope/table/compare.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/row_limit.h"
#include "borescope/table/display/timestamp_columns.h"
#include "borescope/table/match_rows.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

// Keys that identify an event of one recording.
constexpr std::string_view kEventKeys[] = {"ts_ns", "begin_ns", "correlation", "position"};

bool NamesEvent(const Column& column) {
  return column.role == Role::kKey && std::find(std::begin(kEventKeys), std::end(kEventKeys),
                                                column.name) != std::end(kEventKeys);
}

// Integers without a unit identify rather than measure: a step, a rank, a row.
bool HasChange(const Column& column) {
  const bool is_name =
      std::holds_alternative<IntValues>(column.values) && column.unit == Unit::kNone;
  return column.IsNumber() && !is_name && !IsTimestamp(column);
}

int64_t Difference(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    return a > b ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
  }
  return difference;
}
double Difference(double a, double b) { return a - b; }

// The joined rows of both runs while they become one row each.
class Matched {
 public:
  Matched(const Table& joined, std::vector<RowPair> pairs)
      : joined_(joined), pairs_(std::move(pairs)) {}

  Table Make() const;

 private:
  Column Taken(const Column& column, std::string_view prefix) const;
  Column Mine(const Column& column) const;
  Column Either(const Column& column) const;
  Column Others(const Column& column) const;
  Column Change(const Column& column) const;
  bool DiffersInBoth(const Column& column) const;
  void AddRuns(Table& table) const;
  void AddValues(const Column& column, Table& table) const;

  const Table& joined_;
  std::vector<RowPair> pairs_;
};

// The cell of `row`, or a missing one.
void PushCell(const Column& from, uint32_t row, Column& to) {
  if (row == kNoRow || from.IsMissing(row)) {
    PushMissing(to);
    return;
  }
  std::visit(
      [&](auto& cells) {
        using Values = std::decay_t<decltype(cells)>;
        cells.push_back(std::get<Values>(from.values)[row]);
      },
      to.values);
  if (!to.missing.empty()) {
    to.missing.push_back(0);
  }
}

Column Matched::Mine(const Column& column) const {
  Column made = EmptyLike(column);
  for (const RowPair& pair : pairs_) {
    PushCell(column, pair.mine, made);
  }
  return made;
}

Column Matched::Either(const Column& column) const {
  Column made = EmptyLike(column);
  for (const RowPair& pair : pairs_) {
    PushCell(column, pair.mine == kNoRow ? pair.other : pair.mine, made);
  }
  return made;
}

Column Matched::Others(const Column& column) const {
  Column made = EmptyLike(column, kAgainstPrefix);
  made.doc = "The same in the other run.";
  for (const RowPair& pair : pairs_) {
    PushCell(column, pair.other, made);
  }
  return made;
}

// A missing row is 0 for a sum, and missing for everything else.
template <class Values>
void PushChange(const Column& column, const Values& cells, const RowPair& pair, Column& to) {
  const auto is_missing = [&](uint32_t row) {
    return row == kNoRow ? column.role != Role::kSum : column.IsMissing(row);
  };
  const auto value = [&](uint32_t row) {
    return row == kNoRow ? typename Values::value_type{} : cells[row];
  };
  is_missing(pair.mine) || is_missing(pair.other)
      ? PushMissing(to)
      : Push(to, Difference(value(pair.mine), value(pair.other)));
}

Column Matched::Change(const Column& column) const {
  Column made = EmptyLike(column, kChangePrefix);
  made.role = column.role == Role::kSum ? Role::kSum : Role::kDerived;
  made.doc = "This run less the other.";
  for (const RowPair& pair : pairs_) {
    if (const auto* whole = std::get_if<IntValues>(&column.values); whole != nullptr) {
      PushChange(column, *whole, pair, made);
    } else {
      PushChange(column, std::get<FloatValues>(column.values), pair, made);
    }
  }
  return made;
}

bool Matched::DiffersInBoth(const Column& column) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const RowPair& pair) {
    return pair.mine != kNoRow && pair.other != kNoRow &&
           CompareCells(column, pair.mine, pair.other) != 0;
  });
}

void Matched::AddRuns(Table& table) const {
  Column& runs = AddString(table, kRunsColumn, Role::kDerived,
                           "Where the row is: in both runs, in this one or in the other only.");
  for (const RowPair& pair : pairs_) {
    Push(runs, pair.other == kNoRow ? kThisRun : pair.mine == kNoRow ? kOtherRun : kBothRuns);
  }
}

void Matched::AddValues(const Column& column, Table& table) const {
  if (!column.IsNumber()) {
    table.columns.push_back(Either(column));
    if (DiffersInBoth(column)) {
      table.columns.push_back(Others(column));
    }
    return;
  }
  table.columns.push_back(Mine(column));
  if (!IsTimestamp(column)) {
    table.columns.push_back(Others(column));
  }
  if (HasChange(column)) {
    table.columns.push_back(Change(column));
  }
}

Table Matched::Make() const {
  Table table{joined_.name, joined_.title, {}, joined_.preview_rows};
  for (const Column& column : joined_.columns) {
    if (column.role == Role::kKey) {
      table.columns.push_back(Either(column));
    }
  }
  AddRuns(table);
  for (const Column& column : joined_.columns) {
    if (column.role != Role::kKey) {
      AddValues(column, table);
    }
  }
  return table;
}

Table Joined(const Table& mine, const Table& others) {
  const std::array<Table, 2> both = {mine, others};
  return Concat(both);
}

Column* FindKey(Table& table, std::string_view name) {
  const auto found = std::find_if(
      table.columns.begin(), table.columns.end(),
      [&](const Column& column) { return column.name == name && column.role == Role::kKey; });
  return found == table.columns.end() ? nullptr : &*found;
}

// The number in all cells; nothing if they differ, or there are none.
std::optional<int64_t> OnlyNumber(const Column& column) {
  const auto* numbers = std::get_if<IntValues>(&column.values);
  if (numbers == nullptr || numbers->empty()) {
    return std::nullopt;
  }
  for (size_t row = 0; row < numbers->size(); ++row) {
    if (column.IsMissing(row) || (*numbers)[row] != numbers->front()) {
      return std::nullopt;
    }
  }
  return numbers->front();
}

}  // namespace

void UnkeyPlaces(std::span<const std::string_view> names, Table& mine, Table& others) {
  for (const std::string_view name : names) {
    Column* const here = FindKey(mine, name);
    Column* const there = FindKey(others, name);
    if (here == nullptr || there == nullptr) {
      continue;
    }
    const std::optional<int64_t> from = OnlyNumber(*there);
    const std::optional<int64_t> to = OnlyNumber(*here);
    if (from.has_value() && to.has_value() && *from != *to) {
      here->role = Role::kDerived;
      there->role = Role::kDerived;
    }
  }
}

std::optional<Table> MatchRows(const Table& mine, const Table& others) {
  for (const Table* table : {&mine, &others}) {
    if (std::any_of(table->columns.begin(), table->columns.end(), NamesEvent)) {
      return std::nullopt;
    }
  }
  const Table joined = Joined(mine, others);
  CheckedRows(joined.rows(), "rows of two tables");
  std::optional<std::vector<RowPair>> pairs = PairRows(joined, static_cast<uint32_t>(mine.rows()));
  if (!pairs.has_value()) {
    return std::nullopt;
  }
  return Matched(joined, std::move(*pairs)).Make();
}

Table JoinRows(const Table& mine, const Table& others) {
  Table joined = Joined(mine, others);
  Table table{joined.name, joined.title, {}, joined.preview_rows};
  Column& run = AddString(table, kRunColumn, Role::kKey, "Which run the row is of: this or other.");
  for (size_t row = 0; row < joined.rows(); ++row) {
    Push(run, row < mine.rows() ? kThisRun : kOtherRun);
  }
  std::move(joined.columns.begin(), joined.columns.end(), std::back_inserter(table.columns));
  return table;
}

void AddElapsed(Table& table, std::string_view moment) {
  const Column* column = table.Find(moment);
  if (column == nullptr || table.Find(kElapsedColumn) != nullptr) {
    return;
  }
  const Column moments = *column;  // keeps its address while a column is added
  const auto& values = std::get<IntValues>(moments.values);
  int64_t begin = std::numeric_limits<int64_t>::max();
  for (size_t row = 0; row < values.size(); ++row) {
    begin = moments.IsMissing(row) ? begin : std::min(begin, values[row]);
  }
  Column& elapsed = AddInt(table, kElapsedColumn, Unit::kNanoseconds, Role::kDerived,
                           "Time since the first row of the run.");
  for (size_t row = 0; row < values.size(); ++row) {
    moments.IsMissing(row) ? PushMissing(elapsed) : Push(elapsed, Difference(values[row], begin));
  }
}

}  // namespace borescope::internal
