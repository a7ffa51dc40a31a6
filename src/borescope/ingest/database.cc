#include "borescope/ingest/database.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "borescope/base/text/text.h"
#include "borescope/ingest/nsys/nsys.h"
#include "borescope/ingest/nvprof/nvprof.h"
#include "borescope/ingest/rocpd/rocpd.h"
#include "borescope/ingest/rpd/rpd.h"
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

namespace {

// The first whose `matches` recognises the tables reads the database.
struct DatabaseFormat {
  TraceFormat format;
  std::string_view summary;
  bool (*matches)(const DatabaseSchema& schema);
  Result<Trace> (*load)(DatabaseInput input);
  Remedy remedy;
};

constexpr DatabaseFormat kDatabaseFormats[] = {
    {TraceFormat::kRocpd, "database of rocprofv3 and rocprof-sys (ROCm 7)", IsRocpd, LoadRocpd,
     RocpdRemedy},
    {TraceFormat::kRpd, "database of rocmProfileData", IsRpd, LoadRpd, RpdRemedy},
    {TraceFormat::kNsys, "SQLite export of Nsight Systems", IsNsys, LoadNsys, NsysRemedy},
    {TraceFormat::kNvprof, "database of nvprof and nvvp", IsNvprof, LoadNvprof, NvprofRemedy},
};

constexpr auto kFormatRows = [] {
  std::array<FormatRow, std::size(kDatabaseFormats)> rows;
  std::transform(
      std::begin(kDatabaseFormats), std::end(kDatabaseFormats), rows.begin(),
      [](const DatabaseFormat& row) { return FormatRow{FormatName(row.format), row.summary}; });
  return rows;
}();

// A foreign file may declare thousands of tables; no profiler does.
constexpr size_t kMostTables = 4096;

// Tables that are not read, and what is in them.
struct SensitiveTable {
  std::string_view table;  // of rocpd: without its suffix
  std::string_view what;
};
constexpr SensitiveTable kSensitiveTables[] = {
    {"TARGET_INFO_SYSTEM_ENV", "environment"},
    {"PROCESS_STREAMS", "output"},
    {"ProcessStreams", "output"},
    {"PROCESSES", "processes"},
    {"TARGET_INFO_NIC_INFO", "network"},
    {"NIC_ID_MAP", "network"},
    {"TARGET_INFO_NETWORK", "network"},
    {"rocpd_info_node", "environment"},
    {"rocpd_info_process", "processes"},
    {"ANALYSIS_FILE", "files"},
};

// Databases that are recognised only to name them in errors, by a table or by a column of any.
struct ForeignDatabase {
  std::string_view table, column;  // one of them is empty
  std::string_view what, remedy;
};
constexpr ForeignDatabase kForeignDatabases[] = {
    {"compute_workload", "", "a database of rocprof-compute",
     "it holds metrics without a timeline: record the run with rocprofv3 --sys-trace"},
    {"", "aggr_id", "a database of DLProf",
     "give the one of Nsight Systems that was written beside it (nsys_profile.sqlite)"},
    {"STRING_IDS", "", "a database of the Ascend profiler",
     "give trace_view.json, which is written with export_type Text"},
};

Error NotOfProfiler(const SqlDatabase& database, const DatabaseSchema& schema) {
  for (const ForeignDatabase& row : kForeignDatabases) {
    const bool is_it =
        std::any_of(schema.tables().begin(), schema.tables().end(), [&](const auto& table) {
          return row.column.empty() ? table.first == row.table
                                    : schema.Has(table.first, row.column);
        });
    if (is_it) {
      return {ErrorCode::kUnsupportedFormat,
              "this is " + std::string(row.what) + ", not a profile that borescope reads",
              std::string(row.remedy), database.name()};
    }
  }
  return {ErrorCode::kUnsupportedFormat, "an SQLite database, but without the tables of a profiler",
          "give an .rpd, rocpd, nvprof database or an export of nsys export --type sqlite",
          database.name()};
}

Result<std::vector<SensitiveCount>> CountSensitive(SqlDatabase& database,
                                                   const DatabaseSchema& schema) {
  std::vector<SensitiveCount> counts;
  for (const auto& [table, columns] : schema.tables()) {
    const auto* row = std::find_if(
        std::begin(kSensitiveTables), std::end(kSensitiveTables), [&](const SensitiveTable& known) {
          return table == known.table ||
                 (known.table.starts_with("rocpd_") && table.starts_with(known.table));
        });
    if (row == std::end(kSensitiveTables)) {
      continue;
    }
    BS_ASSIGN(const uint64_t rows, CountRows(database, schema, table));
    const auto same = std::find_if(counts.begin(), counts.end(), [&](const SensitiveCount& count) {
      return count.what == row->what;
    });
    if (same != counts.end()) {
      same->count += rows;
    } else if (rows > 0) {
      counts.push_back({std::string(row->what), rows});
    }
  }
  return counts;
}

}  // namespace

Result<DatabaseSchema> DatabaseSchema::Read(SqlDatabase& database) {
  DatabaseSchema schema;
  BS_ASSIGN(const std::vector<std::string> names, database.Tables());
  if (names.size() > kMostTables) {
    return Error{
        ErrorCode::kUnsupportedFormat,
        "a database of " + std::to_string(names.size()) + " tables, which no profiler writes",
        "give the file of a profiler", database.name()};
  }
  for (const std::string& name : names) {
    if (!IsValidUtf8(name)) {
      return Error{ErrorCode::kUnsupportedFormat,
                   "a database with a table whose name is not UTF-8, which no profiler writes",
                   "give the file of a profiler", database.name()};
    }
    BS_ASSIGN(schema.tables_[name], database.Columns(name));
  }
  return schema;
}

bool DatabaseSchema::Has(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() &&
         std::find(found->second.begin(), found->second.end(), column) != found->second.end();
}

Result<Trace> LoadDatabase(SqlDatabase& database, uint64_t file_bytes, const LoadOptions& options) {
  BS_ASSIGN(const DatabaseSchema schema, DatabaseSchema::Read(database));
  const DatabaseFormat* format =
      std::find_if(std::begin(kDatabaseFormats), std::end(kDatabaseFormats),
                   [&](const DatabaseFormat& row) { return row.matches(schema); });
  if (format == std::end(kDatabaseFormats)) {
    return NotOfProfiler(database, schema);
  }
  Meta meta;
  meta.file = database.name();
  meta.format = format->format;
  meta.remedy = format->remedy;
  meta.file_bytes = file_bytes;
  meta.text_bytes = file_bytes;
  BS_ASSIGN(meta.sensitive, CountSensitive(database, schema));
  return format->load({database, schema, std::move(meta), options});
}

Remedy RemedyOfDatabase(TraceFormat format) {
  const DatabaseFormat* row =
      std::find_if(std::begin(kDatabaseFormats), std::end(kDatabaseFormats),
                   [format](const DatabaseFormat& known) { return known.format == format; });
  return row == std::end(kDatabaseFormats) ? nullptr : row->remedy;
}

std::span<const FormatRow> DatabaseFormats() { return kFormatRows; }

}  // namespace borescope::internal
