#include "borescope/ingest/database_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "borescope/ingest/time_limit.h"
#include "borescope/json/number.h"

namespace borescope::internal {
namespace {

// Row numbers of a trace have 32 bits.
constexpr uint64_t kMostRows = std::numeric_limits<uint32_t>::max() - 1;

// Beyond this a double does not fit into int64.
constexpr double kIntegerLimit = 9.2e18;

Result<uint64_t> OneNumber(SqlDatabase& database, const std::string& sql) {
  BS_ASSIGN(SqlStatement rows, database.Prepare(sql));
  BS_ASSIGN(const bool is_row, rows.Step());
  return is_row ? static_cast<uint64_t>(rows.Integer(0)) : uint64_t{0};
}

// The largest possible number of rows of a database of this size: every row takes at least a
// pointer and a header. A damaged tree with a cycle of pages would have endless rows.
Result<uint64_t> MostRows(SqlDatabase& database) {
  BS_ASSIGN(const uint64_t pages, OneNumber(database, "PRAGMA page_count"));
  BS_ASSIGN(const uint64_t page_bytes, OneNumber(database, "PRAGMA page_size"));
  constexpr uint64_t kLeastRowBytes = 4;
  return std::min(pages * (page_bytes / kLeastRowBytes), kMostRows);
}

// A column that this version of the table does not have is read as NULL.
std::vector<std::string_view> Existing(const DatabaseSchema& schema, std::string_view table,
                                       std::span<const std::string_view> columns) {
  std::vector<std::string_view> existing(columns.begin(), columns.end());
  for (std::string_view& column : existing) {
    column = schema.Has(table, column) ? column : std::string_view();
  }
  return existing;
}

int64_t Clamped(int64_t ns, Diagnostics& diagnostics) {
  const int64_t clamped = std::clamp(ns, -kTimeLimitNs, kTimeLimitNs);
  if (clamped != ns) {
    diagnostics.Count(Diag::kIntegerOverflow, Diagnostics::kNoByte, std::to_string(ns));
  }
  return clamped;
}

}  // namespace

Result<TableRows> TableRows::Open(SqlDatabase& database, const DatabaseSchema& schema,
                                  std::string_view table, std::span<const std::string_view> columns,
                                  Diagnostics& diagnostics) {
  TableRows rows;
  rows.file_ = database.name();
  rows.table_ = table;
  rows.diagnostics_ = &diagnostics;
  rows.has_rows_ = schema.Has(table);
  if (!rows.has_rows_) {
    return rows;
  }
  BS_ASSIGN(rows.most_rows_, MostRows(database));
  BS_ASSIGN(rows.rows_, SqlTable::Open(database, table, Existing(schema, table, columns)));
  return rows;
}

Result<bool> TableRows::Next() {
  if (!has_rows_) {
    return false;
  }
  if (!repaired_.empty()) {
    repaired_.clear();
  }
  Result<bool> stepped = rows_.Step();
  if (!stepped.ok()) {
    return About("table " + table_, stepped.error());
  }
  if (*stepped && read_++ >= most_rows_) {
    return Error{ErrorCode::kCorrupt,
                 "table " + table_ + ": more than " + std::to_string(most_rows_) +
                     " rows, which the file cannot hold",
                 "copy the file again", file_};
  }
  return stepped;
}

std::string_view TableRows::RepairedText(std::string_view text) const {
  diagnostics_->Count(Diag::kInvalidUtf8, Diagnostics::kNoByte, table_);
  return repaired_.emplace_back(ToValidUtf8(text));
}

void TableRows::CountBadType(int column) const {
  diagnostics_->Count(Diag::kBadFieldType, Diagnostics::kNoByte,
                      table_ + "." + std::string(rows_.ColumnName(column)));
}

int64_t TableRows::NoInteger(int column, int64_t missing) const {
  const SqlType type = rows_.type(column);
  if (type == SqlType::kReal && std::abs(rows_.Real(column)) < kIntegerLimit) {
    return static_cast<int64_t>(rows_.Real(column));
  }
  const std::string_view text = type == SqlType::kText ? rows_.Text(column) : std::string_view();
  const ParsedNumber number = ParseInteger(text);
  if (!text.empty() && number.status == NumberStatus::kOk) {
    return number.value;
  }
  if (type != SqlType::kNull && (type != SqlType::kText || !text.empty())) {
    CountBadType(column);
  }
  return missing;
}

int32_t TableRows::SmallInteger(int column) const {
  return static_cast<int32_t>(
      std::clamp<int64_t>(Integer(column, -1), -1, std::numeric_limits<int32_t>::max()));
}

std::optional<double> TableRows::Number(int column) const {
  const SqlType type = rows_.type(column);
  if (type == SqlType::kInteger || type == SqlType::kReal) {
    return rows_.Real(column);
  }
  const std::string text(type == SqlType::kText ? rows_.Text(column) : std::string_view());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (type == SqlType::kText && !text.empty() && end == text.c_str() + text.size()) {
    return value;
  }
  if (type != SqlType::kNull && (type != SqlType::kText || !text.empty())) {
    CountBadType(column);
  }
  return std::nullopt;
}

RowTime TableRows::Time(int start, int end, std::string_view what) const {
  return TimeOf(Integer(start), Integer(end), what, *diagnostics_);
}

RowTime TimeOf(int64_t start_ns, int64_t end_ns, std::string_view what, Diagnostics& diagnostics) {
  RowTime time;
  if (start_ns == kMissing) {
    diagnostics.Count(Diag::kMissingTimestamp, Diagnostics::kNoByte, what);
    return time;
  }
  time.has_start = true;
  time.ts_ns = Clamped(start_ns, diagnostics);
  if (end_ns == kMissing) {
    diagnostics.Count(Diag::kMissingDuration, Diagnostics::kNoByte, what);
    return time;
  }
  time.dur_ns = Clamped(end_ns, diagnostics) - time.ts_ns;
  if (time.dur_ns < 0) {
    diagnostics.Count(Diag::kNegativeDuration, Diagnostics::kNoByte, what);
    time.dur_ns = 0;
  }
  return time;
}

Result<uint64_t> CountRows(SqlDatabase& database, const DatabaseSchema& schema,
                           std::string_view table) {
  constexpr std::string_view kNoColumn[] = {""};
  Diagnostics unused;
  BS_ASSIGN(TableRows rows, TableRows::Open(database, schema, table, kNoColumn, unused));
  uint64_t count = 0;
  BS_TRY(rows.ForEach([&] { ++count; }));
  return count;
}

}  // namespace borescope::internal
