#include "borescope/query/row_order.h"

#include <algorithm>
#include <string_view>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"

namespace borescope::internal::query {
namespace {

// A NULL sorts first; no cell holds this number (see Int in cells.h).
constexpr int64_t kNullKey = kMissing;

// Numbers the texts of one column by their order.
class TextNumbers {
 public:
  TextNumbers(const ColumnSpec& column, Ranks ranks, std::span<const RowRef> rows)
      : column_(column), ranks_(ranks), first_(ranks.size()) {
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      first_[rank].assign(ranks[rank].trace.strings().size(), kUnseen);
    }
    numbers_.reserve(rows.size());
    for (const RowRef& row : rows) {
      CheckStopAt(numbers_.size());
      numbers_.push_back(NumberOf(row));
    }
    Sort();
  }

  // 0 for NULL, then by text: as many as distinct() of them.
  uint32_t operator[](size_t row) const { return order_[numbers_[row]]; }
  size_t distinct() const { return texts_.size() + 1; }

 private:
  static constexpr uint32_t kUnseen = ~uint32_t{0};

  // A number by first appearance; 0 for NULL.
  uint32_t NumberOf(const RowRef& row) {
    const RankRows& rank = ranks_[row.rank];
    const Cell cell = column_.get(rank, row.row);
    if (cell.kind == CellKind::kNull) {
      return 0;
    }
    if (cell.kind != CellKind::kPooled) {
      return Intern(cell.text);
    }
    uint32_t& number = first_[row.rank][static_cast<size_t>(cell.number)];
    number = number == kUnseen ? Intern(TextOf(cell, rank.trace)) : number;
    return number;
  }

  uint32_t Intern(std::string_view text) {
    const auto [entry, is_new] =
        ids_.emplace(text, CheckedRows(texts_.size() + 1, "different texts in a column"));
    if (is_new) {
      texts_.push_back(text);
    }
    return entry->second;
  }

  void Sort() {
    std::vector<uint32_t> by_text(texts_.size());
    for (uint32_t i = 0; i < by_text.size(); ++i) {
      by_text[i] = i;
    }
    std::sort(by_text.begin(), by_text.end(),
              [&](uint32_t a, uint32_t b) { return texts_[a] < texts_[b]; });
    order_.assign(texts_.size() + 1, 0);
    for (uint32_t i = 0; i < by_text.size(); ++i) {
      order_[by_text[i] + 1] = i + 1;
    }
  }

  const ColumnSpec& column_;
  Ranks ranks_;
  std::vector<std::vector<uint32_t>> first_;  // per rank and StringId: its number
  HashMap<std::string_view, uint32_t> ids_;
  std::vector<std::string_view> texts_;
  std::vector<uint32_t> numbers_;  // per row
  std::vector<uint32_t> order_;    // per number: its place in the order
};

// Counting sort: there are far fewer texts than rows.
void SortByText(const ColumnSpec& column, Ranks ranks, std::vector<RowRef>& rows) {
  const TextNumbers numbers(column, ranks, rows);
  std::vector<size_t> next(numbers.distinct() + 1, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    ++next[numbers[i] + 1];
  }
  for (size_t i = 1; i < next.size(); ++i) {
    next[i] += next[i - 1];
  }
  std::vector<RowRef> sorted(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    sorted[next[numbers[i]]++] = rows[i];
  }
  rows.swap(sorted);
}

void SortByNumber(const ColumnSpec& column, Ranks ranks, std::vector<RowRef>& rows) {
  struct Keyed {
    int64_t key;
    RowRef row;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(rows.size());
  for (const RowRef& row : rows) {
    CheckStopAt(keyed.size());
    const Cell cell = column.get(ranks[row.rank], row.row);
    keyed.push_back({cell.kind == CellKind::kInt ? cell.number : kNullKey, row});
  }
  SortRuns(std::span(keyed), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  std::transform(keyed.begin(), keyed.end(), rows.begin(), [](const Keyed& k) { return k.row; });
}

}  // namespace

std::strong_ordering CompareCell(const Cell& cell, const Trace&, int64_t number) {
  return cell.kind == CellKind::kInt ? cell.number <=> number : std::strong_ordering::less;
}

std::strong_ordering CompareCell(const Cell& cell, const Trace& trace, std::string_view text) {
  return cell.kind == CellKind::kNull ? std::strong_ordering::less : TextOf(cell, trace) <=> text;
}

std::vector<RowRef> RowOrders::Make(const ColumnList& columns) const {
  std::vector<RowRef> rows;
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const uint32_t size = CheckedRows(relation_.size(ranks_[rank]), "rows of a table");
    rows.reserve(rows.size() + size);
    for (uint32_t row = 0; row < size; ++row) {
      if (relation_.keeps == nullptr || relation_.keeps(ranks_[rank], row)) {
        rows.push_back({rank, row});
      }
    }
  }
  for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
    const ColumnSpec& spec = relation_.columns[*column];
    spec.type == ColumnType::kText ? SortByText(spec, ranks_, rows)
                                   : SortByNumber(spec, ranks_, rows);
  }
  return rows;
}

std::span<const RowRef> RowOrders::By(const ColumnList& columns) {
  const auto found = orders_.find(columns);
  return found != orders_.end() ? found->second
                                : orders_.emplace(columns, Make(columns)).first->second;
}

template <class Value>
std::span<const RowRef> RowOrders::Equal(uint8_t column, Value value) {
  const std::span<const RowRef> rows = By({column});
  const ColumnSpec& spec = relation_.columns[column];
  const auto order = [&](const RowRef& row) {
    const RankRows& rank = ranks_[row.rank];
    return CompareCell(spec.get(rank, row.row), rank.trace, value);
  };
  const auto begin = std::partition_point(rows.begin(), rows.end(),
                                          [&](const RowRef& row) { return order(row) < 0; });
  const auto end =
      std::partition_point(begin, rows.end(), [&](const RowRef& row) { return order(row) == 0; });
  return {begin, end};
}

template std::span<const RowRef> RowOrders::Equal(uint8_t column, int64_t value);
template std::span<const RowRef> RowOrders::Equal(uint8_t column, std::string_view value);

bool RowOrders::IsWorthSorting(uint8_t column) {
  constexpr int kSearchesThatScan = 3;
  return ++searches_[column] > kSearchesThatScan;
}

}  // namespace borescope::internal::query
