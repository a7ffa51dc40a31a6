#include "borescope/table/table_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/saturating.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

constexpr size_t kPieceBytes = sizeof(uint64_t);

struct Entry {
  uint64_t piece = 0;  // the bytes of the text that are compared next
  std::string_view text;
  uint32_t id = 0;
};

// A range of entries that are equal up to `depth`.
struct Task {
  size_t begin;
  size_t end;
  size_t depth;
};

// Eight bytes from `depth` on as a number that compares as they do; bytes after the end are 0.
uint64_t PieceAt(std::string_view text, size_t depth) {
  unsigned char bytes[kPieceBytes] = {};
  std::memcpy(bytes, text.data() + depth, std::min(kPieceBytes, text.size() - depth));
  const auto piece = std::bit_cast<uint64_t>(bytes);
  return std::endian::native == std::endian::little ? __builtin_bswap64(piece) : piece;
}

// Sorts equal entries by their next piece, and keeps those that are still equal for later. A text
// that ends in the piece comes before those of the same piece that continue, and a shorter one
// before a longer one, whose further bytes are 0.
void SortByPiece(std::span<Entry> entries, const Task& task, std::vector<Task>& tasks) {
  const std::span<Entry> range = entries.subspan(task.begin, task.end - task.begin);
  for (Entry& entry : range) {
    entry.piece = PieceAt(entry.text, task.depth);
  }
  const size_t next = task.depth + kPieceBytes;
  const auto length = [&](const Entry& entry) { return std::min(entry.text.size(), next); };
  const auto less = [&](const Entry& a, const Entry& b) {
    return a.piece != b.piece ? a.piece < b.piece : length(a) < length(b);
  };
  size_t calls = 0;
  std::sort(range.begin(), range.end(), StoppableLess(less, calls));
  for (size_t begin = 0; begin < range.size();) {
    size_t end = begin + 1;
    while (end < range.size() && range[end].piece == range[begin].piece &&
           length(range[end]) == length(range[begin])) {
      ++end;
    }
    // Texts are distinct: at most one of those that end is here.
    if (end - begin > 1 && length(range[begin]) == next) {
      tasks.push_back({task.begin + begin, task.begin + end, next});
    }
    begin = end;
  }
}

// Sorts distinct texts.
void SortTexts(std::vector<Entry>& entries) {
  std::vector<Task> tasks;
  if (entries.size() > 1) {
    tasks.push_back({0, entries.size(), 0});
  }
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    SortByPiece(entries, task, tasks);
  }
}

}  // namespace

std::vector<uint32_t> TextRanks(const StringValues& cells) {
  std::vector<uint32_t> ranks(cells.size());
  if (cells.empty()) {
    return ranks;
  }
  // Every distinct text is one object (StringValues), so that its address identifies it.
  const std::string* first = &cells[0];
  const std::string* last = first;
  for (size_t row = 0; row < cells.size(); ++row) {
    first = std::min(first, &cells[row]);
    last = std::max(last, &cells[row]);
  }
  std::vector<Entry> entries;
  std::vector<char> is_seen(static_cast<size_t>(last - first) + 1, 0);
  for (size_t row = 0; row < cells.size(); ++row) {
    ranks[row] = static_cast<uint32_t>(&cells[row] - first);
    if (std::exchange(is_seen[ranks[row]], 1) == 0) {
      entries.push_back({0, cells[row], ranks[row]});
    }
  }
  SortTexts(entries);
  std::vector<uint32_t> rank_of(is_seen.size(), 0);
  for (size_t rank = 0; rank < entries.size(); ++rank) {
    rank_of[entries[rank].id] = static_cast<uint32_t>(rank);
  }
  std::transform(ranks.begin(), ranks.end(), ranks.begin(),
                 [&](uint32_t id) { return rank_of[id]; });
  return ranks;
}

namespace {

using Rows = std::vector<uint32_t>;

int CompareValues(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  }
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

template <class T>
int CompareValues(const T& a, const T& b) {
  return static_cast<int>(b < a) - static_cast<int>(a < b);
}

// Positive when only `a` is missing, negative when only `b` is, else zero.
int CompareMissing(const Column& column, size_t a, size_t b) {
  return static_cast<int>(column.IsMissing(a)) - static_cast<int>(column.IsMissing(b));
}

// A column to sort by. Texts are ranked once, when two are compared for the first time.
class SortColumn {
 public:
  explicit SortColumn(const Column& column)
      : column_(&column), texts_(std::get_if<StringValues>(&column.values)) {}

  // As CompareCells.
  int Compare(size_t a, size_t b) {
    if (texts_ == nullptr || column_->IsMissing(a) || column_->IsMissing(b)) {
      return CompareCells(*column_, a, b);
    }
    if (ranks_.empty()) {
      ranks_ = TextRanks(*texts_);
    }
    return CompareValues(ranks_[a], ranks_[b]);
  }

 private:
  const Column* column_;
  const StringValues* texts_;    // nullptr: of numbers
  std::vector<uint32_t> ranks_;  // by row
};

int CompareInColumns(std::span<SortColumn> columns, size_t a, size_t b) {
  for (SortColumn& column : columns) {
    if (const int order = column.Compare(a, b); order != 0) {
      return order;
    }
  }
  return 0;
}

Rows AllRows(const Table& table) {
  Rows rows(CheckedRows(table.rows(), "rows of a table"));
  std::iota(rows.begin(), rows.end(), uint32_t{0});
  return rows;
}

std::vector<SortColumn> AllColumns(const Table& table) {
  std::vector<SortColumn> columns;
  columns.reserve(table.columns.size());
  for (const Column& column : table.columns) {
    columns.emplace_back(column);
  }
  return columns;
}

template <class T>
void AppendValues(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}
void AppendValues(StringValues& to, const StringValues& more) { to.Append(more); }

void AppendCells(Column& to, const Column& from) {
  BS_CHECK(to.values.index() == from.values.index());
  if (!to.missing.empty() || !from.missing.empty()) {
    to.missing.resize(to.size(), 0);
    to.missing.insert(to.missing.end(), from.missing.begin(), from.missing.end());
    to.missing.resize(to.size() + from.size(), 0);
  }
  std::visit(
      [&](auto& cells) {
        AppendValues(cells, std::get<std::decay_t<decltype(cells)>>(from.values));
      },
      to.values);
}

template <class T>
std::vector<T> TakeValues(const std::vector<T>& values, std::span<const uint32_t> rows) {
  std::vector<T> taken;
  taken.reserve(rows.size());
  for (const uint32_t row : rows) {
    taken.push_back(values[row]);
  }
  return taken;
}
StringValues TakeValues(const StringValues& values, std::span<const uint32_t> rows) {
  return values.Take(rows);
}

Column TakeCells(const Column& column, std::span<const uint32_t> rows) {
  Column taken = EmptyLike(column);
  std::visit([&](const auto& cells) { taken.values = TakeValues(cells, rows); }, column.values);
  if (!column.missing.empty()) {
    for (const uint32_t row : rows) {
      taken.missing.push_back(column.missing[row]);
    }
  }
  return taken;
}

void AddTo(int64_t& sum, int64_t value) { AddSaturatingTo(sum, value); }
void AddTo(double& sum, double value) { sum += value; }
void AddTo(char&, char) { BS_CHECK(false && "kSum needs a column of numbers"); }

// The row of `group` that has the cell of all, in columns that are not summed; nothing if the
// result is missing.
template <class Values>
std::optional<uint32_t> PickRow(const Column& column, const Values& cells,
                                std::span<const uint32_t> group) {
  std::optional<uint32_t> picked;
  const auto order = [&](uint32_t row) { return CompareValues(cells[row], cells[*picked]); };
  for (const uint32_t row : group) {
    if (column.IsMissing(row)) {
      if (column.role == Role::kDerived) {
        return std::nullopt;
      }
    } else if (!picked.has_value() || (column.role == Role::kMin && order(row) < 0) ||
               (column.role == Role::kMax && order(row) > 0)) {
      picked = row;
    } else if (column.role == Role::kDerived && order(row) != 0) {
      return std::nullopt;
    }
  }
  return picked;
}

template <class T>
std::optional<T> Sum(const Column& column, const std::vector<T>& cells,
                     std::span<const uint32_t> group) {
  std::optional<T> sum;
  for (const uint32_t row : group) {
    if (column.IsMissing(row)) {
      continue;
    }
    if (sum.has_value()) {
      AddTo(*sum, cells[row]);
    } else {
      sum = cells[row];
    }
  }
  return sum;
}

// `rows` cut at `ends`: calls visit(group) for one group of rows after the other.
template <class Visit>
void ForEachGroup(std::span<const uint32_t> rows, const Rows& ends, const Visit& visit) {
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    visit(rows.subspan(begin, end - begin));
    begin = end;
  }
}

template <class Values, class Value>
void PushCell(Column& column, const std::optional<Value>& value) {
  if (!value.has_value()) {
    PushMissing(column);
    return;
  }
  std::get<Values>(column.values).push_back(*value);
  if (!column.missing.empty()) {
    column.missing.push_back(0);
  }
}

template <class T>
void CombineCells(const Column& column, const std::vector<T>& cells, std::span<const uint32_t> rows,
                  const Rows& ends, Column& combined) {
  ForEachGroup(rows, ends, [&](std::span<const uint32_t> group) {
    std::optional<T> value;
    if (column.role == Role::kSum) {
      value = Sum(column, cells, group);
    } else if (const auto row = PickRow(column, cells, group); row.has_value()) {
      value = cells[*row];
    }
    PushCell<std::vector<T>>(combined, value);
  });
}

// Where no result is missing, texts are taken without being sought.
void CombineCells(const Column& column, const StringValues& cells, std::span<const uint32_t> rows,
                  const Rows& ends, Column& combined) {
  BS_CHECK(column.role != Role::kSum);
  Rows picked;
  std::vector<std::optional<std::string_view>> texts;
  ForEachGroup(rows, ends, [&](std::span<const uint32_t> group) {
    if (const auto row = PickRow(column, cells, group); row.has_value()) {
      picked.push_back(*row);
      texts.emplace_back(cells[*row]);
    } else {
      texts.emplace_back(std::nullopt);
    }
  });
  if (picked.size() == ends.size()) {
    combined.values = cells.Take(picked);
    return;
  }
  for (const std::optional<std::string_view>& text : texts) {
    PushCell<StringValues>(combined, text);
  }
}

// `rows` cut at `ends`: one group of rows for each row of the result.
Column CombineColumn(const Column& column, std::span<const uint32_t> rows, const Rows& ends) {
  Column combined = EmptyLike(column);
  std::visit([&](const auto& cells) { CombineCells(column, cells, rows, ends, combined); },
             column.values);
  return combined;
}

// One past the last row of each run of rows with equal keys. REQUIRES: `rows` sorted by `keys`.
Rows EndsOfGroups(std::span<SortColumn> keys, const Rows& rows) {
  Rows ends;
  for (size_t i = 1; i <= rows.size(); ++i) {
    if (i == rows.size() || CompareInColumns(keys, rows[i - 1], rows[i]) != 0) {
      ends.push_back(static_cast<uint32_t>(i));
    }
  }
  return ends;
}

std::string_view WithoutUnit(std::string_view name) {
  for (const std::string_view suffix : {"_ns", "_us", "_bytes", "_share", "_gbps"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      return name.substr(0, name.size() - suffix.size());
    }
  }
  return name;
}

}  // namespace

int CompareCells(const Column& column, size_t a, size_t b) {
  if (column.IsMissing(a) || column.IsMissing(b)) {
    return CompareMissing(column, a, b);
  }
  return std::visit([&](const auto& cells) { return CompareValues(cells[a], cells[b]); },
                    column.values);
}

void ReserveRows(Table& table, size_t rows) {
  for (Column& column : table.columns) {
    std::visit([rows](auto& cells) { cells.reserve(rows); }, column.values);
  }
}

Table Concat(std::span<const Table> parts) {
  Table whole;
  size_t rows = 0;
  for (const Table& part : parts) {
    if (whole.name.empty()) {
      whole.name = part.name;
      whole.title = part.title;
      whole.preview_rows = part.preview_rows;
    }
    for (const Column& from : part.columns) {
      Column* to = whole.Find(from.name);
      if (to == nullptr) {
        to = &whole.columns.emplace_back(EmptyLike(from));
        while (to->size() < rows) {
          PushMissing(*to);
        }
      }
      AppendCells(*to, from);
    }
    rows += part.rows();
    for (Column& column : whole.columns) {
      while (column.size() < rows) {
        PushMissing(column);
      }
    }
  }
  return whole;
}

Table MergeByKey(const Table& table) {
  std::vector<SortColumn> keys;
  for (const Column& column : table.columns) {
    if (column.role == Role::kKey) {
      keys.emplace_back(column);
    }
  }
  Rows rows = AllRows(table);
  SortRuns(std::span(rows),
           [&](uint32_t a, uint32_t b) { return CompareInColumns(keys, a, b) < 0; });
  const Rows ends = EndsOfGroups(keys, rows);
  Table merged{table.name, table.title, {}, table.preview_rows};
  for (const Column& column : table.columns) {
    CheckStop();
    merged.columns.push_back(CombineColumn(column, rows, ends));
  }
  return merged;
}

Table MergeByKey(std::span<const Table> parts) {
  return parts.size() == 1 ? MergeByKey(parts.front()) : MergeByKey(Concat(parts));
}

const Column* FindBySortName(const Table& table, std::string_view name) {
  if (const Column* exact = table.Find(name); exact != nullptr) {
    return exact;
  }
  for (const Column& column : table.columns) {
    if (WithoutUnit(column.name) == name) {
      return &column;
    }
  }
  return nullptr;
}

Result<Table> SortBy(const Table& table, std::string_view column) {
  const Column* first = FindBySortName(table, column);
  if (first == nullptr) {
    std::string known;
    for (const Column& each : table.columns) {
      known += (known.empty() ? "" : ", ") + each.name;
    }
    return Error{ErrorCode::kInvalidArgument,
                 "table " + table.name + " has no column '" + std::string(column) + "'",
                 "it has " + known};
  }
  std::vector<SortColumn> columns = AllColumns(table);
  SortColumn by(*first);
  const int sign = first->IsNumber() ? -1 : 1;
  Rows rows = AllRows(table);
  SortRuns(std::span(rows), [&](uint32_t a, uint32_t b) {
    const bool any_missing = first->IsMissing(a) || first->IsMissing(b);
    const int order = any_missing ? CompareMissing(*first, a, b) : sign * by.Compare(a, b);
    return order != 0 ? order < 0 : CompareInColumns(columns, a, b) < 0;
  });
  return TakeRows(table, rows);
}

Table SortAll(const Table& table) {
  std::vector<SortColumn> columns = AllColumns(table);
  Rows rows = AllRows(table);
  SortRuns(std::span(rows),
           [&](uint32_t a, uint32_t b) { return CompareInColumns(columns, a, b) < 0; });
  return TakeRows(table, rows);
}

Table Head(const Table& table, size_t count) {
  Rows rows = AllRows(table);
  rows.resize(std::min(rows.size(), count));
  return TakeRows(table, rows);
}

Table TakeRows(const Table& table, std::span<const uint32_t> rows) {
  Table taken{table.name, table.title, {}, table.preview_rows};
  for (const Column& column : table.columns) {
    CheckStop();
    taken.columns.push_back(TakeCells(column, rows));
  }
  return taken;
}

}  // namespace borescope::internal
