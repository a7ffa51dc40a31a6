#include "borescope/ingest/database.h"

#include <algorithm>
#include <array>

#include "borescope/base/text/utf8.h"
#include "borescope/ingest/database_rows.h"
#include "borescope/ingest/nsys/nsys.h"
#include "borescope/ingest/nvprof/nvprof.h"
#include "borescope/ingest/rocpd/rocpd.h"
#include "borescope/ingest/rpd/rpd.h"

namespace borescope::internal {
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
