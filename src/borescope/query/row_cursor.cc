#include "borescope/query/row_cursor.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
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

  // The number of a row's text: 0 for NULL, then in the order of texts, below distinct().
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
    spec.type == RelationType::kText ? SortByText(spec, ranks_, rows)
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

namespace {

// Numbers of columns and comparisons as printable characters.
constexpr char kZero = '!';
constexpr char kEndOfFilters = ' ';

struct OperatorRow {
  unsigned char sqlite;
  Comparison comparison;
};
constexpr OperatorRow kOperators[] = {{SQLITE_INDEX_CONSTRAINT_EQ, Comparison::kEqual},
                                      {SQLITE_INDEX_CONSTRAINT_LT, Comparison::kLess},
                                      {SQLITE_INDEX_CONSTRAINT_LE, Comparison::kLessOrEqual},
                                      {SQLITE_INDEX_CONSTRAINT_GT, Comparison::kGreater},
                                      {SQLITE_INDEX_CONSTRAINT_GE, Comparison::kGreaterOrEqual}};

std::optional<Comparison> ComparisonOf(unsigned char sqlite) {
  const auto* const row = std::find_if(std::begin(kOperators), std::end(kOperators),
                                       [&](const OperatorRow& r) { return r.sqlite == sqlite; });
  return row == std::end(kOperators) ? std::nullopt : std::optional(row->comparison);
}

// The filter for one constraint, if the relation can make it.
std::optional<PlannedFilter> FilterOf(const Relation& relation, sqlite3_index_info& question,
                                      int constraint) {
  const auto& asked = question.aConstraint[constraint];
  const std::optional<Comparison> comparison = ComparisonOf(asked.op);
  if (asked.usable == 0 || asked.iColumn < 0 || !comparison.has_value()) {
    return std::nullopt;
  }
  const ColumnSpec& column = relation.columns[static_cast<size_t>(asked.iColumn)];
  const bool is_text = column.type == RelationType::kText;
  if (column.type == RelationType::kReal || (is_text && *comparison != Comparison::kEqual) ||
      (is_text && std::string_view(sqlite3_vtab_collation(&question, constraint)) != "BINARY")) {
    return std::nullopt;
  }
  return PlannedFilter{static_cast<uint8_t>(asked.iColumn), *comparison};
}

bool IsSearch(const Relation& relation, const PlannedFilter& filter) {
  return filter.comparison == Comparison::kEqual && filter.column != kRankColumn &&
         relation.columns[filter.column].spread != Spread::kFew;
}

bool IsKeySearch(const Relation& relation, const PlannedFilter& filter) {
  return IsSearch(relation, filter) && relation.columns[filter.column].spread == Spread::kKey;
}

// An estimate; planning needs only the order of estimates.
double ShareOf(const Relation& relation, size_t ranks, const PlannedFilter& filter, double rows) {
  if (filter.comparison != Comparison::kEqual) {
    return 0.3;
  }
  if (filter.column == kRankColumn) {
    return 1.0 / static_cast<double>(std::max<size_t>(1, ranks));
  }
  switch (relation.columns[filter.column].spread) {
    case Spread::kFew:
      return 0.1;
    case Spread::kMany:
      return 0.005;
    case Spread::kKey:
      return std::min(1.0, 2.0 * static_cast<double>(ranks) / rows);
  }
  return 1.0;
}

void Estimate(const Relation& relation, Ranks ranks, const Plan& plan,
              sqlite3_index_info& question) {
  double all = 1;
  for (const RankRows& rank : ranks) {
    all += static_cast<double>(relation.size(rank));
  }
  double rows = all;
  for (const PlannedFilter& filter : plan.filters) {
    rows *= ShareOf(relation, ranks.size(), filter, all);
  }
  const bool is_search =
      std::any_of(plan.filters.begin(), plan.filters.end(),
                  [&](const PlannedFilter& filter) { return IsSearch(relation, filter); });
  constexpr double kCostOfSkipping = 0.2;  // relative to 1 for a row that SQLite gets
  constexpr double kCostOfSearch = 5;
  question.estimatedCost = rows + (is_search ? kCostOfSearch : kCostOfSkipping * all);
  question.estimatedRows = std::max<sqlite3_int64>(1, static_cast<sqlite3_int64>(rows));
}

// Whether rows by rank and id are in the requested order.
bool IsNaturalOrder(const Relation& relation, const sqlite3_index_info& question, size_t ranks) {
  if (!relation.has_ids || relation.has_own_ranks) {
    return false;
  }
  const std::array<int, 2> natural = {static_cast<int>(kRankColumn), static_cast<int>(kIdColumn)};
  size_t place = ranks == 1 && question.aOrderBy[0].iColumn == natural[1] ? 1 : 0;
  for (int i = 0; i < question.nOrderBy; ++i, ++place) {
    if (place == natural.size() || question.aOrderBy[i].desc != 0 ||
        question.aOrderBy[i].iColumn != natural.at(place)) {
      return false;
    }
  }
  return true;
}

// The columns of a GROUP BY or DISTINCT by which rows may come sorted; empty if SQLite has to sort.
// (SQLite sorts for an ORDER BY alone, as it keeps few rows with a LIMIT.)
ColumnList GroupOrder(const Relation& relation, const Plan& plan, sqlite3_index_info& question) {
  constexpr int kMostColumns = 4;
  const bool few = std::any_of(plan.filters.begin(), plan.filters.end(),
                               [&](const auto& filter) { return IsKeySearch(relation, filter); });
  if (few || sqlite3_vtab_distinct(&question) == 0 || question.nOrderBy > kMostColumns) {
    return {};
  }
  ColumnList columns;
  for (int i = 0; i < question.nOrderBy; ++i) {
    const auto& asked = question.aOrderBy[i];
    if (asked.desc != 0 || asked.iColumn < 0 ||
        !IsSortable(relation.columns[static_cast<size_t>(asked.iColumn)])) {
      return {};
    }
    columns.push_back(static_cast<uint8_t>(asked.iColumn));
  }
  return columns;
}

}  // namespace

std::string PlanText(const Plan& plan) {
  std::string text;
  for (const PlannedFilter& filter : plan.filters) {
    text += static_cast<char>(kZero + filter.column);
    text += static_cast<char>(kZero + static_cast<int>(filter.comparison));
  }
  text += kEndOfFilters;
  for (const uint8_t column : plan.order) {
    text += static_cast<char>(kZero + column);
  }
  return text;
}

Plan ParsePlan(std::string_view text) {
  Plan plan;
  size_t at = 0;
  for (; text[at] != kEndOfFilters; at += 2) {
    plan.filters.push_back(
        {static_cast<uint8_t>(text[at] - kZero), static_cast<Comparison>(text[at + 1] - kZero)});
  }
  for (++at; at < text.size(); ++at) {
    plan.order.push_back(static_cast<uint8_t>(text[at] - kZero));
  }
  return plan;
}

Plan MakePlan(const Relation& relation, Ranks ranks, sqlite3_index_info& question) {
  Plan plan;
  for (int i = 0; i < question.nConstraint; ++i) {
    if (const auto filter = FilterOf(relation, question, i); filter.has_value()) {
      plan.filters.push_back(*filter);
      question.aConstraintUsage[i].argvIndex = static_cast<int>(plan.filters.size());
    }
  }
  Estimate(relation, ranks, plan, question);
  if (question.nOrderBy > 0) {
    if (IsNaturalOrder(relation, question, ranks.size())) {
      question.orderByConsumed = 1;
    } else {
      plan.order = GroupOrder(relation, plan, question);
      question.orderByConsumed = plan.order.empty() ? 0 : 1;
    }
  }
  return plan;
}

namespace {

bool Holds(Comparison comparison, int64_t a, int64_t b) {
  switch (comparison) {
    case Comparison::kEqual:
      return a == b;
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessOrEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterOrEqual:
      return a >= b;
  }
  return true;
}

// Narrows [begin, end) to the rows whose number compares so with `number`.
void Narrow(Comparison comparison, int64_t number, int64_t& begin, int64_t& end) {
  // Saturates at the ends of the range, which no row number reaches.
  const int64_t after = number == std::numeric_limits<int64_t>::max() ? number : number + 1;
  if (comparison == Comparison::kEqual || comparison == Comparison::kGreaterOrEqual) {
    begin = std::max(begin, number);
  } else if (comparison == Comparison::kGreater) {
    begin = std::max(begin, after);
  }
  if (comparison == Comparison::kEqual || comparison == Comparison::kLessOrEqual) {
    end = std::min(end, after);
  } else if (comparison == Comparison::kLess) {
    end = std::min(end, number);
  }
}

}  // namespace

void RowCursor::AddFilter(const PlannedFilter& planned, const FilterValue& value) {
  Filter filter{planned.column, planned.comparison,      value.kind,
                value.number,   std::string(value.text), {}};
  if (value.kind == FilterValue::Kind::kString) {
    filter.ids.reserve(ranks_.size());
    for (const RankRows& rank : ranks_) {
      const StringId id = rank.trace.strings().Find(value.text);
      filter.ids.push_back(id.valid() ? int64_t{id.value} : -1);
    }
  }
  filters_.push_back(std::move(filter));
}

// Searches the rows with a value that the plan has. False if there is no such value, or scanning is
// cheaper.
bool RowCursor::StartSearch(const Plan& plan, std::span<const FilterValue> values) {
  for (size_t i = 0; i < plan.filters.size(); ++i) {
    const auto [column, comparison] = plan.filters[i];
    const bool is_value = values[i].kind == FilterValue::Kind::kNumber ||
                          values[i].kind == FilterValue::Kind::kString;
    if (IsRowNumber(relation_, column) && comparison == Comparison::kEqual && is_value) {
      return false;  // a scan of one row
    }
  }
  for (size_t i = 0; i < plan.filters.size(); ++i) {
    const auto [column, comparison] = plan.filters[i];
    const FilterValue& value = values[i];
    if (comparison != Comparison::kEqual || relation_.columns[column].spread == Spread::kFew ||
        (value.kind != FilterValue::Kind::kNumber && value.kind != FilterValue::Kind::kString) ||
        !orders_.IsWorthSorting(column)) {
      continue;
    }
    sorted_ = value.kind == FilterValue::Kind::kString ? orders_.Equal(column, value.text)
                                                       : orders_.Equal(column, value.number);
    return true;
  }
  return false;
}

void RowCursor::Start(const Plan& plan, std::span<const FilterValue> values) {
  filters_.clear();
  filters_.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    AddFilter(plan.filters[i], values[i]);
  }
  position_ = 0;
  rank_ = 0;
  at_end_ = std::any_of(values.begin(), values.end(), [](const FilterValue& value) {
    return value.kind == FilterValue::Kind::kNothing;
  });
  if (at_end_) {
    return;
  }
  if (plan.order.empty()) {
    in_order_ = StartSearch(plan, values);
  } else {
    in_order_ = true;
    sorted_ = orders_.By(plan.order);
  }
  ahead_.resize(in_order_ ? relation_.columns.size() : 0);
  for (Ahead& ahead : ahead_) {
    ahead.count = 0;
  }
  end_ = 0;
  if (!in_order_ && rank_ < ranks_.size() && !EnterRank()) {
    end_ = 0;
  }
  Settle();
}

bool RowCursor::EnterRank() {
  int64_t begin = 0;
  auto end = static_cast<int64_t>(relation_.size(rank()));
  for (const Filter& filter : filters_) {
    if (filter.kind != FilterValue::Kind::kNumber) {
      continue;
    }
    if (IsRowNumber(relation_, filter.column)) {
      Narrow(filter.comparison, filter.number, begin, end);
    } else if (filter.column == kRankColumn && !relation_.has_own_ranks &&
               !Holds(filter.comparison, rank().data.rank, filter.number)) {
      return false;
    }
  }
  position_ = static_cast<size_t>(begin);
  end_ = static_cast<size_t>(std::max(begin, end));
  return true;
}

Cell RowCursor::GetInOrder(size_t column) {
  Ahead& ahead = ahead_[column];
  if (position_ < ahead.first || position_ >= ahead.first + ahead.count) {
    const ColumnSpec& spec = relation_.columns[column];
    ahead.first = position_;
    ahead.count = std::min(kAhead, sorted_.size() - position_);
    for (size_t i = 0; i < ahead.count; ++i) {
      const RowRef& ref = sorted_[position_ + i];
      ahead.cells[i] = spec.get(ranks_[ref.rank], ref.row);
    }
  }
  return ahead.cells[position_ - ahead.first];
}

bool RowCursor::PassesFilter(const Filter& filter) {
  if (filter.kind == FilterValue::Kind::kAnything) {
    return true;
  }
  const Cell cell = Get(filter.column);
  switch (cell.kind) {
    case CellKind::kInt:
      return Holds(filter.comparison, cell.number, filter.number);
    case CellKind::kPooled:
      return cell.number == filter.ids[rank_];
    case CellKind::kText:
      return cell.text == filter.text;
    default:
      return false;
  }
}

bool RowCursor::Passes() {
  return std::all_of(filters_.begin(), filters_.end(),
                     [&](const Filter& filter) { return PassesFilter(filter); });
}

bool RowCursor::Tick() {
  constexpr uint32_t kRowsBetweenLooks = 1 << 14;
  if (++skipped_ % kRowsBetweenLooks == 0 && deadline_.passed()) {
    timed_out_ = true;
    at_end_ = true;
  }
  return !timed_out_;
}

void RowCursor::SettleInOrder() {
  for (; position_ < sorted_.size(); ++position_) {
    rank_ = sorted_[position_].rank;
    row_ = sorted_[position_].row;
    if (Passes()) {
      return;
    }
    if (!Tick()) {
      return;
    }
  }
  at_end_ = true;
}

void RowCursor::SettleInRank() {
  while (true) {
    for (; position_ < end_; ++position_) {
      row_ = static_cast<uint32_t>(position_);
      const bool is_row = relation_.keeps == nullptr || relation_.keeps(rank(), row_);
      if ((is_row && Passes()) || !Tick()) {
        return;
      }
    }
    do {
      if (rank_ + 1 >= ranks_.size()) {
        at_end_ = true;
        return;
      }
      ++rank_;
    } while (!EnterRank());
  }
}

void RowCursor::Settle() {
  if (in_order_) {
    SettleInOrder();
  } else {
    SettleInRank();
  }
}

namespace {

// SQLite uses pointers to its own structs; ours derive from them.
struct VirtualTable : sqlite3_vtab {
  TableData::Source* source = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  explicit Cursor(TableData::Source& source)
      : sqlite3_vtab_cursor{},
        rows(source.relation, source.data.ranks(), source.orders, source.data.deadline()) {}
  RowCursor rows;
};

TableData::Source& SourceOf(sqlite3_vtab* table) {
  return *static_cast<VirtualTable*>(table)->source;
}
RowCursor& RowsOf(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->rows; }

// Exceptions (out of memory, stopped, too many rows) must not pass through SQLite. They become
// errors, with a message in `table` if there is one.
template <class Body>
int Guarded(sqlite3_vtab* table, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const StopRequested&) {
    return SQLITE_INTERRUPT;
  } catch (const TooManyRows& error) {
    if (table != nullptr) {
      sqlite3_free(table->zErrMsg);
      table->zErrMsg = sqlite3_mprintf("%s", error.what());
    }
    return SQLITE_ERROR;
  }
}

std::string SchemaOf(const Relation& relation) {
  std::string columns;
  for (const ColumnSpec& column : relation.columns) {
    columns +=
        fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, TypeName(column.type));
  }
  return fmt::format("CREATE TABLE x({})", columns);
}

int Connect(sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** table,
            char**) {
  return Guarded(nullptr, [&] {
    auto made = std::make_unique<VirtualTable>();
    made->source = static_cast<TableData::Source*>(source);
    sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
    const int status = sqlite3_declare_vtab(database, SchemaOf(made->source->relation).c_str());
    if (status == SQLITE_OK) {
      *table = made.release();
    }
    return status;
  });
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(
      table);  // NOLINT(cppcoreguidelines-owning-memory): SQLite owned it
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab* table, sqlite3_index_info* question) {
  return Guarded(nullptr, [&] {
    const TableData::Source& source = SourceOf(table);
    const Plan plan = MakePlan(source.relation, source.data.ranks(), *question);
    question->idxStr = sqlite3_mprintf("%s", PlanText(plan).c_str());
    question->needToFreeIdxStr = 1;
    return question->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  });
}

int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  return Guarded(nullptr, [&] {
    *cursor = std::make_unique<Cursor>(SourceOf(table)).release();
    return SQLITE_OK;
  });
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);  // NOLINT(cppcoreguidelines-owning-memory): as above
  return SQLITE_OK;
}

FilterValue NumberOf(sqlite3_value* value) {
  const auto number = FilterValue::Kind::kNumber;
  if (sqlite3_value_type(value) == SQLITE_INTEGER) {
    return {number, sqlite3_value_int64(value), {}};
  }
  constexpr double kExact = 9e15;  // below, every double without a fraction is an integer
  const double real = sqlite3_value_type(value) == SQLITE_FLOAT ? sqlite3_value_double(value) : 0.5;
  return std::abs(real) < kExact && real == std::floor(real)
             ? FilterValue{number, static_cast<int64_t>(real), {}}
             : FilterValue{};
}

FilterValue ValueOf(sqlite3_value* value, RelationType type) {
  if (sqlite3_value_type(value) == SQLITE_NULL) {
    return {FilterValue::Kind::kNothing, 0, {}};
  }
  if (type == RelationType::kInteger) {
    return NumberOf(value);
  }
  if (sqlite3_value_type(value) != SQLITE_TEXT) {
    return {};
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {FilterValue::Kind::kString, 0, {text, static_cast<size_t>(sqlite3_value_bytes(value))}};
}

int StatusOf(const RowCursor& rows) { return rows.timed_out() ? SQLITE_INTERRUPT : SQLITE_OK; }

int Filter(sqlite3_vtab_cursor* cursor, int, const char* plan_text, int count,
           sqlite3_value** arguments) {
  return Guarded(cursor->pVtab, [&] {
    const Relation& relation = SourceOf(cursor->pVtab).relation;
    const Plan plan = ParsePlan(plan_text);
    std::vector<FilterValue> values;
    values.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      const uint8_t column = plan.filters[static_cast<size_t>(i)].column;
      values.push_back(ValueOf(arguments[i], relation.columns[column].type));
    }
    RowsOf(cursor).Start(plan, values);
    return StatusOf(RowsOf(cursor));
  });
}

int Next(sqlite3_vtab_cursor* cursor) {
  return Guarded(cursor->pVtab, [&] {
    RowsOf(cursor).Next();
    return StatusOf(RowsOf(cursor));
  });
}

int IsAtEnd(sqlite3_vtab_cursor* cursor) { return RowsOf(cursor).at_end() ? 1 : 0; }

void ReturnText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
}

int GetColumn(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  return Guarded(cursor->pVtab, [&] {
    RowCursor& rows = RowsOf(cursor);
    const Cell cell = rows.Get(static_cast<size_t>(column));
    switch (cell.kind) {
      case CellKind::kNull:
        sqlite3_result_null(context);
        break;
      case CellKind::kInt:
        sqlite3_result_int64(context, cell.number);
        break;
      case CellKind::kReal:
        sqlite3_result_double(context, cell.real);
        break;
      case CellKind::kPooled:
      case CellKind::kText:
        ReturnText(context, TextOf(cell, rows.rank().trace));
        break;
    }
    return SQLITE_OK;
  });
}

int GetRowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* row_id) {
  *row_id = static_cast<sqlite3_int64>(RowsOf(cursor).row_id());
  return SQLITE_OK;
}

// Without xCreate a module is only the table with its own name.
constexpr sqlite3_module MakeModule() {
  sqlite3_module module{};
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = IsAtEnd;
  module.xColumn = GetColumn;
  module.xRowid = GetRowId;
  return module;
}
constexpr sqlite3_module kModule = MakeModule();

}  // namespace

TableData::TableData(std::span<const RankData> ranks, std::span<const Relation> relations) {
  ranks_.reserve(ranks.size());
  for (const RankData& rank : ranks) {
    ranks_.emplace_back(rank);
  }
  for (const Relation& relation : relations) {
    sources_.push_back({relation, *this, RowOrders(relation, ranks_)});
  }
}

Result<void> RegisterTables(SqlDatabase& database, TableData& data) {
  for (TableData::Source& source : data.sources()) {
    const std::string name(source.relation.name);
    const int status =
        sqlite3_create_module_v2(database.handle(), name.c_str(), &kModule, &source, nullptr);
    if (status != SQLITE_OK) {
      return Error{ErrorCode::kIo, fmt::format("query: SQLite: {}", sqlite3_errstr(status))};
    }
  }
  return {};
}

}  // namespace borescope::internal::query
