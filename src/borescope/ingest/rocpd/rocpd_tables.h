// Shared by the readers of the tables of a rocpd database. One file may contain the databases of
// several processes: their tables have different suffixes, and ids start again in each.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/database.h"
#include "borescope/ingest/device_lines.h"
#include "borescope/ingest/text_table.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// A table of rows that others refer to by id, with one number each.
struct RocpdNumbers {
  RowIds ids;
  std::vector<int64_t> values;

  // The number of row `id`, kMissing if there is no such row.
  int64_t Get(int64_t id) {
    const uint32_t row = id == kMissing ? RowIds::kNone : ids.Find(id);
    return row == RowIds::kNone ? kMissing : values[row];
  }
};

struct RocpdAgents {
  RowIds ids;
  std::vector<int64_t> device;  // number among the devices of its type
  std::vector<char> is_gpu;
};

struct RocpdSymbols {
  RowIds ids;
  std::vector<StringId> name;
  std::vector<int32_t> registers;
};

struct RocpdEvents {
  RowIds ids;
  std::vector<StringId> category;
  std::vector<int64_t> link;      // number that a call and its device work share; kMissing: none
  std::vector<StringId> message;  // of markers
};

// The value of a hardware counter for an event.
struct RocpdValue {
  int64_t event;
  StringId name;
  uint32_t agent;  // row of the agents, RowIds::kNone if unknown
  double value;
  bool is_used = false;  // a kernel or a sample uses it
};

// Arguments of calls, by event: "dst=0x7f..., size=16".
struct RocpdArguments {
  RowIds events;
  std::vector<StringId> text;
};

struct RocpdTables {
  SqlDatabase& database;
  const DatabaseSchema& schema;
  std::string suffix{};  // of the tables being read
  TracePart part{};
  DeviceLines lines{};
  std::map<std::pair<size_t, int64_t>, int64_t> process_numbers{};  // by suffix and process row
  std::set<int64_t> known_devices{};
  size_t suffix_number = 0;
  // Of the tables with this suffix:
  TextTable strings{};
  RocpdNumbers processes{};
  RocpdNumbers threads{};
  RocpdAgents agents{};
  RocpdSymbols symbols{};
  RocpdEvents events{};
  RocpdArguments arguments{};
  std::vector<RocpdValue> values{};  // by event and name

  Diagnostics& diagnostics() { return part.data.diagnostics; }
  std::string Name(std::string_view base) const { return "rocpd_" + std::string(base) + suffix; }
  bool Has(std::string_view base) const { return schema.Has(Name(base)); }
  StringId String(int64_t id) { return strings.Get(id, diagnostics()); }
  // Calls `add` with every row of a table; none if there is no such table.
  template <class Add>
  Result<void> ForEach(std::string_view base, std::span<const std::string_view> columns,
                       const Add& add) {
    if (!Has(base)) {
      return {};
    }
    BS_ASSIGN(TableRows rows,
              TableRows::Open(database, schema, Name(base), columns, diagnostics()));
    return rows.ForEach([&] { add(rows); });
  }
  // The track of a thread by its rows in info_process and info_thread; if there are no such rows,
  // the ids are its numbers, which is counted. `is_async` as in Tracks.
  TrackId ThreadOf(int64_t process, int64_t thread, bool is_async = false);
  // The row among the agents of `id`, RowIds::kNone if there is none, which is counted if `id` is
  // set.
  uint32_t AgentOf(int64_t id);
  // The values of an event, marked as used: only the first caller gets them.
  std::span<RocpdValue> ValuesOf(int64_t event);
  // Whether an event has values, used or not.
  bool HasValues(int64_t event);
  // `number` of `process` (a row of info_process) as one that no other process of the file has.
  int64_t Unique(int64_t process, int64_t number);
};

// Processes, threads, agents, kernel symbols, events and arguments with the suffix.
Result<void> ReadRocpdInfo(RocpdTables& tables);
// Regions with the suffix: calls and markers of the host.
Result<void> ReadRocpdRegions(RocpdTables& tables);
// Counter values with the suffix. Must come before device work and samples, which use them.
Result<void> ReadRocpdCounters(RocpdTables& tables);
// Kernels, with their counters, and copies with the suffix.
Result<void> ReadRocpdDeviceWork(RocpdTables& tables);
// Allocations and frees with the suffix.
Result<void> ReadRocpdMemory(RocpdTables& tables);
// Samples of counters with the suffix. Must come after device work.
Result<void> ReadRocpdSamples(RocpdTables& tables);

// The text of a marker: "message" of the JSON object `extdata`; empty if there is none.
std::string RocpdMessage(std::string_view extdata);

}  // namespace borescope::internal
