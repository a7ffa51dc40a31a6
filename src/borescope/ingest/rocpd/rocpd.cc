#include "borescope/ingest/rocpd/rocpd.h"

#include <algorithm>
#include <iterator>

#include "borescope/ingest/rocpd/rocpd_tables.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kAgentTable = "rocpd_info_agent";

// Tables that are read, or have no additional data.
constexpr std::string_view kReadTables[] = {
    "arg",         "event",           "info_agent",      "info_code_object", "info_kernel_symbol",
    "info_node",   "info_pmc",        "info_process",    "info_queue",       "info_stream",
    "info_thread", "kernel_dispatch", "memory_allocate", "memory_copy",      "metadata",
    "pmc_event",   "region",          "sample",          "string",           "track"};

// One per database in the file, in alphabetical order; the empty one for tables without a suffix.
std::vector<std::string> Suffixes(const DatabaseSchema& schema) {
  std::vector<std::string> suffixes;
  for (const auto& [table, columns] : schema.tables()) {
    if (table.starts_with(kAgentTable)) {
      suffixes.push_back(table.substr(kAgentTable.size()));
    }
  }
  return suffixes;
}

Error Unsupported(const RocpdTables& tables, std::string_view table, std::string_view what) {
  return {ErrorCode::kUnsupportedFormat,
          "table " + tables.Name(table) + ": " + std::string(what) + ", which is not read",
          "record with rocprofv3 of ROCm 7.0 to 7.2, or convert it with rocpd convert",
          tables.database.name()};
}

// Generations whose events do not have their own times and places.
Result<void> CheckGeneration(const RocpdTables& tables) {
  for (const std::string_view table : {"region", "kernel_dispatch", "memory_copy"}) {
    const std::string name = tables.Name(table);
    if (tables.schema.Has(name, "start_id") || tables.Has("timestamp")) {
      return Unsupported(tables, table, "times are ids of rocpd_timestamp (development schema)");
    }
    if (tables.schema.Has(name, "track_id") && !tables.schema.Has(name, "pid")) {
      return Unsupported(tables, table, "events name tracks instead of threads (schema 4.1)");
    }
  }
  return {};
}

// The version of the schema, as stored.
Result<std::string> ReadMetadata(RocpdTables& tables) {
  std::string version;
  bool is_compressed = false;
  constexpr std::string_view kColumns[] = {"tag", "value"};
  BS_TRY(tables.ForEach("metadata", kColumns, [&](const TableRows& rows) {
    if (rows.Text(0) == "schema_version") {
      version = rows.Text(1);
    }
    is_compressed |= rows.Text(0) == "compression" && rows.Text(1) != "none";
  }));
  if (is_compressed) {
    return Unsupported(tables, "event", "texts are compressed (compression=lz4-frame-v1)");
  }
  return version;
}

Result<void> CountUnreadTables(RocpdTables& tables) {
  for (const auto& [table, columns] : tables.schema.tables()) {
    constexpr std::string_view kStart = "rocpd_";
    if (!table.starts_with(kStart) || !table.ends_with(tables.suffix) ||
        table.size() < kStart.size() + tables.suffix.size()) {
      continue;
    }
    const std::string_view base = std::string_view(table).substr(
        kStart.size(), table.size() - kStart.size() - tables.suffix.size());
    if (std::find(std::begin(kReadTables), std::end(kReadTables), base) != std::end(kReadTables)) {
      continue;
    }
    BS_ASSIGN(const uint64_t count, CountRows(tables.database, tables.schema, table));
    tables.diagnostics().CountMany(Diag::kUnreadRows, count, Diagnostics::kNoByte, table);
  }
  return {};
}

// The tables with one suffix, read in this order.
constexpr Result<void> (*kStages[])(RocpdTables& tables) = {
    ReadRocpdInfo,   ReadRocpdRegions, ReadRocpdCounters, ReadRocpdDeviceWork,
    ReadRocpdMemory, ReadRocpdSamples, CountUnreadTables};

// Reads the tables with the current suffix. Returns the version of their schema.
Result<std::string> ReadSuffix(RocpdTables& tables, TableProgress& progress) {
  BS_TRY(CheckGeneration(tables));
  BS_ASSIGN(std::string version, ReadMetadata(tables));
  for (const auto read : kStages) {
    BS_TRY(read(tables));
    progress.Done();
  }
  return version;
}

}  // namespace

bool IsRocpd(const DatabaseSchema& schema) {
  return std::any_of(schema.tables().begin(), schema.tables().end(),
                     [](const auto& table) { return table.first.starts_with(kAgentTable); });
}

Result<Trace> LoadRocpd(DatabaseInput input) {
  RocpdTables tables{.database = input.database, .schema = input.schema};
  const std::vector<std::string> suffixes = Suffixes(input.schema);
  TableProgress progress(input, suffixes.size() * std::size(kStages));
  std::string version;
  for (const std::string& suffix : suffixes) {
    tables.suffix = suffix;
    BS_ASSIGN(version, ReadSuffix(tables, progress));
    ++tables.suffix_number;
  }
  tables.lines.AssignTracks(tables.part);
  input.meta.producer = "rocprofiler-sdk, rocpd schema " + (version.empty() ? "3" : version);
  input.meta.vendor = Vendor::kAmd;
  input.meta.devices = std::move(tables.part.data.meta.devices);
  TraceBuilder builder;
  builder.Append(std::move(tables.part));
  return builder.Finish(std::move(input.meta), 0, input.options.threads);
}

}  // namespace borescope::internal
