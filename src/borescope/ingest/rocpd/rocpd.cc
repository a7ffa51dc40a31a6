#include "borescope/ingest/rocpd/rocpd.h"

#include <algorithm>
#include <iterator>

#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/cupti/nvtx_text.h"
#include "borescope/ingest/rocpd/rocpd_tables.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/trace_builder.h"

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

std::string_view RocpdRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
      return "record with rocprofv3 --hip-trace (or --sys-trace)";
    case MissingData::kDeviceWork:
      return "record with rocprofv3 --kernel-trace --memory-copy-trace (or --sys-trace)";
    case MissingData::kLaunches:
      return "record with rocprofv3 --hip-trace --kernel-trace (or --sys-trace)";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx() under rocprofv3 --marker-trace";
    case MissingData::kMemory:
      return "record with rocprofv3 --memory-allocation-trace";
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\") and record it with rocprofv3 "
             "--marker-trace";
    case MissingData::kGraphs:
      return "the profiled part used none, or record with rocprofv3 --hip-trace";
    case MissingData::kCopies:
      return "record with rocprofv3 --memory-copy-trace, if the profiled part copied";
    case MissingData::kCounters:
      return "record with rocprofv3 --pmc NAMES --kernel-trace";
    default:
      return CommonRemedy(lack);
  }
}

namespace {

struct RegionRow {
  enum Column : uint8_t { kProcess, kThread, kStart, kEnd, kName, kEvent, kExtra };
  static constexpr std::string_view kColumns[] = {"pid",     "tid",      "start",  "end",
                                                  "name_id", "event_id", "extdata"};
};

// Ranges between roctxRangeStart and roctxRangeStop, which may overlap and cross threads.
bool IsStartStop(std::string_view name) {
  return name == "roctxProcessRangeA" || name == "roctxRangeStartA";
}

class RegionReader {
 public:
  explicit RegionReader(RocpdTables& tables) : tables_(tables) {}

  void Add(const TableRows& rows);

 private:
  StringId MarkerName(const TableRows& rows, uint32_t event, StringId name);
  uint32_t AddCall(const TableRows& rows, uint32_t event);

  RocpdTables& tables_;
};

StringId RegionReader::MarkerName(const TableRows& rows, uint32_t event, StringId name) {
  const std::string message = RocpdMessage(rows.Text(RegionRow::kExtra));
  if (!message.empty()) {
    return tables_.part.Intern(message);
  }
  const StringId of_event = tables_.events.message[event];
  return of_event == StringId{0} ? name : of_event;
}

uint32_t RegionReader::AddCall(const TableRows& rows, uint32_t event) {
  const bool has_event = event != RowIds::kNone;
  const uint32_t arguments = tables_.arguments.events.Find(rows.Integer(RegionRow::kEvent));
  RuntimeCalls& calls = tables_.part.data.runtime_calls;
  const uint32_t row = AddMissingRow(calls);
  calls.correlation[row] = tables_.Unique(rows.Integer(RegionRow::kProcess),
                                          has_event ? tables_.events.link[event] : kMissing);
  calls.domain[row] = has_event ? tables_.events.category[event] : StringId{0};
  calls.args[row] = arguments == RowIds::kNone ? StringId{0} : tables_.arguments.text[arguments];
  return row;
}

void RegionReader::Add(const TableRows& rows) {
  TracePart& part = tables_.part;
  StringId name = tables_.String(rows.Integer(RegionRow::kName));
  const uint32_t event = tables_.events.ids.Find(rows.Integer(RegionRow::kEvent));
  const StringId category = event == RowIds::kNone ? StringId{0} : tables_.events.category[event];
  const RowTime time = rows.Time(RegionRow::kStart, RegionRow::kEnd, part.data.strings.Get(name));
  part.CountEvent('X', category, time.dur_ns);
  if (!time.has_start) {
    return;
  }
  const bool is_marker = part.data.strings.Get(category).find("MARKER") != std::string_view::npos;
  const bool is_async = is_marker && IsStartStop(part.data.strings.Get(name));
  name = is_marker ? MarkerName(rows, event, name) : name;
  HostRow row{.ts_ns = time.ts_ns, .dur_ns = time.dur_ns, .name = name};
  row.track = tables_.ThreadOf(rows.Integer(RegionRow::kProcess), rows.Integer(RegionRow::kThread),
                               is_async);
  const std::optional<OperatorText> op =
      is_marker && !is_async ? ParseOperatorText(part.data.strings.Get(name)) : std::nullopt;
  if (op.has_value()) {
    row.name = part.Intern(op->name);
    row.kind = HostKind::kOp;
    row.detail = AddOperator(part, *op);
  } else if (is_marker) {
    row.kind = HostKind::kAnnotation;
  } else {
    row.kind = HostKind::kRuntime;
    row.detail = AddCall(rows, event);
  }
  AddHostRow(part.data.host, row);
}

}  // namespace

Result<void> ReadRocpdRegions(RocpdTables& tables) {
  RegionReader reader(tables);
  return tables.ForEach("region", RegionRow::kColumns,
                        [&](const TableRows& rows) { reader.Add(rows); });
}

namespace {

void CountRepeated(RocpdTables& tables, RowIds& ids, std::string_view base) {
  tables.diagnostics().CountMany(Diag::kDuplicateKey, ids.Finish(), Diagnostics::kNoByte,
                                 tables.Name(base));
}

Result<void> ReadNumbers(RocpdTables& tables, std::string_view base, std::string_view column,
                         RocpdNumbers& numbers) {
  const std::string_view columns[] = {"id", column};
  BS_TRY(tables.ForEach(base, columns, [&](const TableRows& rows) {
    numbers.ids.Add(rows.Integer(0));
    numbers.values.push_back(rows.Integer(1));
  }));
  CountRepeated(tables, numbers.ids, base);
  return {};
}

Result<void> ReadThreadNames(RocpdTables& tables) {
  constexpr std::string_view kColumns[] = {"pid", "tid", "name"};
  return tables.ForEach("info_thread", kColumns, [&](const TableRows& rows) {
    if (!rows.Text(2).empty()) {
      tables.part.thread_names.push_back({tables.processes.Get(rows.Integer(0)), rows.Integer(1),
                                          tables.part.Intern(rows.Text(2))});
    }
  });
}

void AddDevice(RocpdTables& tables, int64_t device, std::string_view name) {
  if (tables.known_devices.insert(device).second) {
    DeviceInfo info;
    info.id = device;
    info.name = name;
    tables.part.data.meta.devices.push_back(std::move(info));
  }
}

Result<void> ReadAgents(RocpdTables& tables) {
  enum Column : uint8_t { kId, kType, kTypeIndex, kAbsoluteIndex, kName, kProduct };
  constexpr std::string_view kColumns[] = {"id",   "type",        "type_index", "absolute_index",
                                           "name", "product_name"};
  RocpdAgents& agents = tables.agents;
  BS_TRY(tables.ForEach("info_agent", kColumns, [&](const TableRows& rows) {
    const int64_t device = rows.Integer(kTypeIndex, rows.Integer(kAbsoluteIndex, -1));
    const bool is_gpu = rows.Text(kType) == "GPU";
    agents.ids.Add(rows.Integer(kId));
    agents.device.push_back(device);
    agents.is_gpu.push_back(is_gpu ? 1 : 0);
    if (is_gpu) {
      const std::string product(rows.Text(kProduct));
      AddDevice(tables, device, product.empty() ? rows.Text(kName) : std::string_view(product));
    }
  }));
  CountRepeated(tables, agents.ids, "info_agent");
  return {};
}

Result<void> ReadSymbols(RocpdTables& tables) {
  enum Column : uint8_t { kId, kDisplayName, kKernelName, kRegisters };
  constexpr std::string_view kColumns[] = {"id", "display_name", "kernel_name", "arch_vgpr_count"};
  RocpdSymbols& symbols = tables.symbols;
  BS_TRY(tables.ForEach("info_kernel_symbol", kColumns, [&](const TableRows& rows) {
    const StringId name = tables.part.Intern(rows.Text(kDisplayName));
    symbols.ids.Add(rows.Integer(kId));
    symbols.name.push_back(name == StringId{0} ? tables.part.Intern(rows.Text(kKernelName)) : name);
    symbols.registers.push_back(rows.SmallInteger(kRegisters));
  }));
  CountRepeated(tables, symbols.ids, "info_kernel_symbol");
  return {};
}

// The runtime numbers every call; 0 is none.
int64_t LinkOf(const TableRows& rows, int stack, int correlation) {
  const int64_t number = rows.Integer(stack, 0);
  const int64_t link = number > 0 ? number : rows.Integer(correlation, 0);
  return link > 0 ? link : kMissing;
}

Result<void> ReadEvents(RocpdTables& tables) {
  enum Column : uint8_t { kId, kCategory, kStack, kCorrelation, kExtra };
  constexpr std::string_view kColumns[] = {"id", "category_id", "stack_id", "correlation_id",
                                           "extdata"};
  RocpdEvents& events = tables.events;
  BS_TRY(tables.ForEach("event", kColumns, [&](const TableRows& rows) {
    events.ids.Add(rows.Integer(kId));
    events.category.push_back(tables.String(rows.Integer(kCategory)));
    events.link.push_back(LinkOf(rows, kStack, kCorrelation));
    const std::string_view extra = rows.Text(kExtra);
    events.message.push_back(extra.size() > 2 ? tables.part.Intern(RocpdMessage(extra))
                                              : StringId{0});
  }));
  CountRepeated(tables, events.ids, "event");
  return {};
}

// Arguments of one event are adjacent.
Result<void> ReadArguments(RocpdTables& tables) {
  enum Column : uint8_t { kEvent, kName, kValue };
  constexpr std::string_view kColumns[] = {"event_id", "name", "value"};
  int64_t event = kMissing;
  std::string text;
  const auto flush = [&] {
    if (event != kMissing) {
      tables.arguments.events.Add(event);
      tables.arguments.text.push_back(tables.part.Intern(text));
    }
    text.clear();
  };
  BS_TRY(tables.ForEach("arg", kColumns, [&](const TableRows& rows) {
    if (rows.Integer(kEvent) != event) {
      flush();
      event = rows.Integer(kEvent);
    }
    text += text.empty() ? "" : ", ";
    text.append(rows.Text(kName)).append("=").append(rows.Text(kValue));
  }));
  flush();
  CountRepeated(tables, tables.arguments.events, "arg");
  return {};
}

}  // namespace

std::string RocpdMessage(std::string_view extdata) {
  JsonCursor cursor(extdata);
  if (!cursor.EnterObject()) {
    return {};
  }
  std::string_view key;
  while (cursor.NextMember(key)) {
    const std::string_view value = cursor.Value();
    if (key == "message" && IsString(value)) {
      return StringText(value);
    }
  }
  return {};
}

TrackId RocpdTables::ThreadOf(int64_t process, int64_t thread, bool is_async) {
  const auto number_of = [&](RocpdNumbers& numbers, int64_t id, std::string_view base) {
    const int64_t number = numbers.Get(id);
    if (number != kMissing) {
      return number;
    }
    diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte, Name(base));
    return id == kMissing ? int64_t{-1} : id;
  };
  const int64_t pid = number_of(processes, process, "info_process");
  const int64_t tid = number_of(threads, thread, "info_thread");
  return is_async ? part.AsyncTrack(pid, tid) : part.Track(TrackKind::kHost, pid, tid);
}

uint32_t RocpdTables::AgentOf(int64_t id) {
  const uint32_t row = id == kMissing ? RowIds::kNone : agents.ids.Find(id);
  if (row == RowIds::kNone && id != kMissing) {
    diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte, Name("info_agent"));
  }
  return row;
}

int64_t RocpdTables::Unique(int64_t process, int64_t number) {
  constexpr unsigned kNumberBits = 47;
  if (number == kMissing || number >> kNumberBits != 0) {
    return number;
  }
  const auto next = static_cast<int64_t>(process_numbers.size());
  const auto [place, is_new] = process_numbers.try_emplace({suffix_number, process}, next);
  constexpr int64_t kMostProcesses = (int64_t{1} << (63 - kNumberBits)) - 1;
  return place->second > kMostProcesses ? kMissing : place->second << kNumberBits | number;
}

Result<void> ReadRocpdInfo(RocpdTables& tables) {
  tables.strings = {};
  tables.processes = {};
  tables.threads = {};
  tables.agents = {};
  tables.symbols = {};
  tables.events = {};
  tables.arguments = {};
  if (tables.Has("string")) {
    BS_TRY(tables.strings.Read(tables.database, tables.schema, tables.Name("string"), "id",
                               "string", tables.part));
  }
  tables.strings.Finish(tables.diagnostics());
  BS_TRY(ReadNumbers(tables, "info_process", "pid", tables.processes));
  BS_TRY(ReadNumbers(tables, "info_thread", "tid", tables.threads));
  BS_TRY(ReadThreadNames(tables));
  BS_TRY(ReadAgents(tables));
  BS_TRY(ReadSymbols(tables));
  BS_TRY(ReadEvents(tables));
  return ReadArguments(tables);
}

}  // namespace borescope::internal
