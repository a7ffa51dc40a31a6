#include "borescope/table/compare.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/row_limit.h"
#include "borescope/table/display/view.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

using Rows = std::vector<uint32_t>;

constexpr std::string_view kDepth = "depth";

// Numbers that rows with equal keys share.
Rows KeyNumbers(const Table& table) {
  std::vector<const Column*> keys;
  for (const Column& column : table.columns) {
    if (column.role == Role::kKey && column.name != kDepth) {
      keys.push_back(&column);
    }
  }
  const auto compare = [&](uint32_t a, uint32_t b) {
    for (const Column* key : keys) {
      if (const int order = CompareCells(*key, a, b); order != 0) {
        return order;
      }
    }
    return 0;
  };
  Rows order(table.rows());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return compare(a, b) < 0; });
  Rows numbers(table.rows());
  for (size_t i = 1; i < order.size(); ++i) {
    const bool is_new = compare(order[i - 1], order[i]) != 0;
    numbers[order[i]] = numbers[order[i - 1]] + static_cast<uint32_t>(is_new);
  }
  return numbers;
}

// Levels of rows in preorder, 0 without a key `depth`.
Rows DepthsOf(const Table& table) {
  Rows depths(table.rows(), 0);
  const Column* column = table.Find(kDepth);
  if (column == nullptr || column->role != Role::kKey) {
    return depths;
  }
  if (const auto* values = std::get_if<IntValues>(&column->values); values != nullptr) {
    std::transform(values->begin(), values->end(), depths.begin(), [](int64_t depth) {
      return static_cast<uint32_t>(std::clamp<int64_t>(depth, 0, INT32_MAX));
    });
  }
  return depths;
}

// Rows of two runs, each a tree: matches them, then puts them in order.
class Pairing {
 public:
  Pairing(const Table& joined, uint32_t mine)
      : mine_(mine),
        keys_(KeyNumbers(joined)),
        depths_(DepthsOf(joined)),
        parents_(joined.rows(), kNoRow),
        match_(joined.rows(), kNoRow),
        below_(joined.rows() + 1),
        behind_(joined.rows() + 1) {
    FindParents(0, mine_);
    FindParents(mine_, size());
  }

  // False when two rows of one run, below one row, have the same keys.
  bool Match();
  // REQUIRES: Match.
  std::vector<RowPair> Order();

 private:
  using RowByKey = HashMap<uint64_t, uint32_t>;

  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }
  // The index of a row in lists where kNoRow, the root, has the last one.
  size_t Place(uint32_t row) const { return row == kNoRow ? keys_.size() : row; }
  uint64_t KeyBelow(uint32_t parent, uint32_t row) const {
    return uint64_t{parent} << 32 | keys_[row];
  }
  bool IsOnlyOther(uint32_t row) const { return row != kNoRow && match_[row] == kNoRow; }
  void FindParents(uint32_t begin, uint32_t end);
  std::optional<RowByKey> RowsByKey(uint32_t begin, uint32_t end) const;
  void PlaceOthers();
  void TakeOthers(const Rows& roots, std::vector<RowPair>& pairs) const;

  uint32_t mine_;
  Rows keys_;
  Rows depths_;
  Rows parents_;  // the parent of each row
  Rows match_;    // the row of the other run
  // Rows that only the other run has, each with its subtree: those placed directly below a row of
  // this run, and those placed after it and its subtree.
  std::vector<Rows> below_;
  std::vector<Rows> behind_;
};

void Pairing::FindParents(uint32_t begin, uint32_t end) {
  Rows around;
  for (uint32_t row = begin; row < end; ++row) {
    around.resize(std::min<size_t>(around.size(), depths_[row]));
    parents_[row] = around.empty() ? kNoRow : around.back();
    depths_[row] = static_cast<uint32_t>(around.size());
    around.push_back(row);
  }
}

std::optional<Pairing::RowByKey> Pairing::RowsByKey(uint32_t begin, uint32_t end) const {
  RowByKey rows;
  for (uint32_t row = begin; row < end; ++row) {
    if (!rows.try_emplace(KeyBelow(parents_[row], row), row).second) {
      return std::nullopt;
    }
  }
  return rows;
}

bool Pairing::Match() {
  const std::optional<RowByKey> mine = RowsByKey(0, mine_);
  if (!mine.has_value() || !RowsByKey(mine_, size()).has_value()) {
    return false;
  }
  for (uint32_t row = mine_; row < size(); ++row) {  // its parent comes first
    if (IsOnlyOther(parents_[row])) {
      continue;
    }
    const uint32_t parent = parents_[row] == kNoRow ? kNoRow : match_[parents_[row]];
    if (const auto found = mine->find(KeyBelow(parent, row)); found != mine->end()) {
      match_[row] = found->second;
      match_[found->second] = row;
    }
  }
  return true;
}

// A row that only the other run has keeps its index: the fourth child of a row comes after the
// fourth of this run, or after the last if there are fewer.
void Pairing::PlaceOthers() {
  std::vector<Rows> children(keys_.size() + 1);  // below each row of this run
  for (uint32_t row = 0; row < mine_; ++row) {
    children[Place(parents_[row])].push_back(row);
  }
  Rows seen(keys_.size() + 1, 0);  // below each row of the other run
  for (uint32_t row = mine_; row < size(); ++row) {
    const uint32_t parent = parents_[row];
    const uint32_t number = seen[Place(parent)]++;
    if (match_[row] != kNoRow || IsOnlyOther(parent)) {
      continue;
    }
    const size_t place = Place(parent == kNoRow ? kNoRow : match_[parent]);
    const Rows& siblings = children[place];
    if (siblings.empty()) {
      below_[place].push_back(row);
    } else {
      behind_[siblings[std::min<size_t>(number, siblings.size() - 1)]].push_back(row);
    }
  }
}

void Pairing::TakeOthers(const Rows& roots, std::vector<RowPair>& pairs) const {
  for (const uint32_t root : roots) {
    pairs.push_back({kNoRow, root});
    for (uint32_t row = root + 1; row < size() && depths_[row] > depths_[root]; ++row) {
      pairs.push_back({kNoRow, row});
    }
  }
}

std::vector<RowPair> Pairing::Order() {
  PlaceOthers();
  std::vector<RowPair> pairs;
  TakeOthers(below_[Place(kNoRow)], pairs);
  Rows open;
  for (uint32_t row = 0; row <= mine_; ++row) {
    const size_t depth = row < mine_ ? depths_[row] : 0;
    for (; open.size() > depth; open.pop_back()) {
      TakeOthers(behind_[open.back()], pairs);
    }
    if (row < mine_) {
      open.push_back(row);
      pairs.push_back({row, match_[row]});
      TakeOthers(below_[row], pairs);
    }
  }
  return pairs;
}

}  // namespace

std::optional<std::vector<RowPair>> PairRows(const Table& joined, uint32_t mine) {
  Pairing pairing(joined, mine);
  if (!pairing.Match()) {
    return std::nullopt;
  }
  return pairing.Order();
}

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
