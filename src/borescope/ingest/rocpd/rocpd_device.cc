#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "borescope/base/sort_runs.h"
#include "borescope/ingest/rocpd/rocpd_tables.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

namespace {

// The columns of kernels and of copies, which have the first ones in common.
struct WorkRow {
  enum Common : uint8_t { kProcess, kStart, kEnd, kQueue, kStream, kEvent, kCommonColumns };
  enum KernelColumn : uint8_t {
    kAgent = kCommonColumns,
    kSymbol,
    kPrivateBytes,
    kGroupBytes,
    kBlockX,
    kBlockY,
    kBlockZ,
    kGridX,
    kGridY,
    kGridZ,
    kGraphNode
  };
  static constexpr std::string_view kKernelColumns[] = {"pid",
                                                        "start",
                                                        "end",
                                                        "queue_id",
                                                        "stream_id",
                                                        "event_id",
                                                        "agent_id",
                                                        "kernel_id",
                                                        "private_segment_size",
                                                        "group_segment_size",
                                                        "workgroup_size_x",
                                                        "workgroup_size_y",
                                                        "workgroup_size_z",
                                                        "grid_size_x",
                                                        "grid_size_y",
                                                        "grid_size_z",
                                                        "graph_node_id"};

  enum CopyColumn : uint8_t {
    kName = kCommonColumns,
    kTargetAgent,
    kTargetAddress,
    kSourceAgent,
    kSourceAddress,
    kBytes
  };
  static constexpr std::string_view kCopyColumns[] = {
      "pid",     "start",        "end",         "queue_id",     "stream_id",   "event_id",
      "name_id", "dst_agent_id", "dst_address", "src_agent_id", "src_address", "size"};
};

// Work-items to work-groups; -1 if either is unknown.
int32_t Groups(int32_t items, int32_t group) {
  return items < 0 || group <= 0 ? -1 : static_cast<int32_t>((int64_t{items} + group - 1) / group);
}

class DeviceReader {
 public:
  explicit DeviceReader(RocpdTables& tables) : tables_(tables) {}

  void AddKernel(const TableRows& rows);
  void AddCopy(const TableRows& rows);

 private:
  void Push(const TableRows& rows, DeviceKind kind, StringId name, int64_t device, uint32_t detail,
            RowTime time);
  uint32_t KernelDetail(const TableRows& rows, uint32_t symbol);
  uint32_t CopyDetail(const TableRows& rows, uint32_t source, uint32_t target);
  void AddCounters(const TableRows& rows, StringId name, int64_t device, RowTime time);
  int64_t DeviceOf(uint32_t agent) const {
    return agent == RowIds::kNone ? kMissing : tables_.agents.device[agent];
  }
  bool IsGpu(uint32_t agent) const {
    return agent != RowIds::kNone && tables_.agents.is_gpu[agent] != 0;
  }

  RocpdTables& tables_;
};

void DeviceReader::Push(const TableRows& rows, DeviceKind kind, StringId name, int64_t device,
                        uint32_t detail, RowTime time) {
  const uint32_t event = tables_.events.ids.Find(rows.Integer(WorkRow::kEvent));
  const int64_t link = event == RowIds::kNone ? kMissing : tables_.events.link[event];
  const int64_t process = rows.Integer(WorkRow::kProcess);
  AddDeviceRow(tables_.part.data.device, {.ts_ns = time.ts_ns,
                                          .dur_ns = time.dur_ns,
                                          .name = name,
                                          .kind = kind,
                                          .correlation = tables_.Unique(process, link),
                                          .detail = detail});
  tables_.lines.Add(device == kMissing ? -1 : device,
                    rows.Integer(WorkRow::kStream, rows.Integer(WorkRow::kQueue, -1)),
                    tables_.processes.Get(process));
}

uint32_t DeviceReader::KernelDetail(const TableRows& rows, uint32_t symbol) {
  Kernels& kernels = tables_.part.data.kernels;
  const uint32_t row = AddMissingRow(kernels);
  kernels.block_x[row] = rows.SmallInteger(WorkRow::kBlockX);
  kernels.block_y[row] = rows.SmallInteger(WorkRow::kBlockY);
  kernels.block_z[row] = rows.SmallInteger(WorkRow::kBlockZ);
  kernels.grid_x[row] = Groups(rows.SmallInteger(WorkRow::kGridX), kernels.block_x[row]);
  kernels.grid_y[row] = Groups(rows.SmallInteger(WorkRow::kGridY), kernels.block_y[row]);
  kernels.grid_z[row] = Groups(rows.SmallInteger(WorkRow::kGridZ), kernels.block_z[row]);
  kernels.shared_bytes[row] = rows.SmallInteger(WorkRow::kGroupBytes);
  kernels.private_bytes[row] = rows.SmallInteger(WorkRow::kPrivateBytes);
  kernels.graph_node_id[row] = rows.Integer(WorkRow::kGraphNode);
  kernels.stream_handle[row] = StringId{0};
  kernels.registers[row] = symbol == RowIds::kNone ? -1 : tables_.symbols.registers[symbol];
  return row;
}

// The counters measured while the kernel ran, as a range over it.
void DeviceReader::AddCounters(const TableRows& rows, StringId name, int64_t device, RowTime time) {
  const std::span<RocpdValue> values = tables_.ValuesOf(rows.Integer(WorkRow::kEvent));
  if (values.empty()) {
    return;
  }
  TraceData& data = tables_.part.data;
  const auto range = static_cast<uint32_t>(data.ranges.size());
  data.ranges.first_metric.push_back(static_cast<uint32_t>(data.metrics.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && values[i].name == values[i - 1].name) {  // counted by several agents
      data.metrics.value.back() += values[i].value;
      continue;
    }
    data.metrics.name.push_back(values[i].name);
    data.metrics.value.push_back(values[i].value);
  }
  data.ranges.end_metric.push_back(static_cast<uint32_t>(data.metrics.size()));
  Push(rows, DeviceKind::kRange, name, device, range, time);
}

void DeviceReader::AddKernel(const TableRows& rows) {
  const int64_t id = rows.Integer(WorkRow::kSymbol);
  const uint32_t symbol = id == kMissing ? RowIds::kNone : tables_.symbols.ids.Find(id);
  if (symbol == RowIds::kNone) {
    tables_.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                                tables_.Name("info_kernel_symbol"));
  }
  const StringId name = symbol == RowIds::kNone ? StringId{0} : tables_.symbols.name[symbol];
  const RowTime time =
      rows.Time(WorkRow::kStart, WorkRow::kEnd, tables_.part.data.strings.Get(name));
  tables_.part.CountEvent('X', tables_.part.Intern("KERNEL_DISPATCH"), time.dur_ns);
  if (time.has_start) {
    const uint32_t agent = tables_.AgentOf(rows.Integer(WorkRow::kAgent));
    Push(rows, DeviceKind::kKernel, name, DeviceOf(agent), KernelDetail(rows, symbol), time);
    AddCounters(rows, name, DeviceOf(agent), time);
  }
}

uint32_t DeviceReader::CopyDetail(const TableRows& rows, uint32_t source, uint32_t target) {
  TraceData& data = tables_.part.data;
  const uint32_t call = AddMissingRow(data.copy_calls);
  data.copy_calls.stream_handle[call] = StringId{0};
  data.copy_calls.source[call] = tables_.part.Intern(rows.Text(WorkRow::kSourceAddress));
  data.copy_calls.target[call] = tables_.part.Intern(rows.Text(WorkRow::kTargetAddress));
  data.copy_calls.source_device[call] = DeviceOf(source);
  data.copy_calls.target_device[call] = DeviceOf(target);
  const uint32_t row = AddMissingRow(data.copies);
  data.copies.bytes[row] = rows.Integer(WorkRow::kBytes);
  data.copies.call[row] = call;
  return row;
}

// A copy belongs to the device it writes to, or to the one it reads from if it writes to the host.
void DeviceReader::AddCopy(const TableRows& rows) {
  const StringId name = tables_.String(rows.Integer(WorkRow::kName));
  const RowTime time =
      rows.Time(WorkRow::kStart, WorkRow::kEnd, tables_.part.data.strings.Get(name));
  tables_.part.CountEvent('X', name, time.dur_ns);
  if (time.has_start) {
    const uint32_t source = tables_.AgentOf(rows.Integer(WorkRow::kSourceAgent));
    const uint32_t target = tables_.AgentOf(rows.Integer(WorkRow::kTargetAgent));
    Push(rows, DeviceKind::kMemcpy, name, DeviceOf(IsGpu(target) ? target : source),
         CopyDetail(rows, source, target), time);
  }
}

}  // namespace

Result<void> ReadRocpdDeviceWork(RocpdTables& tables) {
  DeviceReader reader(tables);
  BS_TRY(tables.ForEach("kernel_dispatch", WorkRow::kKernelColumns,
                        [&](const TableRows& rows) { reader.AddKernel(rows); }));
  return tables.ForEach("memory_copy", WorkRow::kCopyColumns,
                        [&](const TableRows& rows) { reader.AddCopy(rows); });
}

// Hardware counters of a rocpd database: values by event, which belongs to a kernel or a sample.

namespace {

// Description of a counter.
struct Counter {
  StringId name;
  uint32_t agent;  // row of the agents, RowIds::kNone if unknown
};

struct Counters {
  RowIds ids;
  std::vector<Counter> rows;
};

Result<Counters> ReadDescriptions(RocpdTables& tables) {
  enum Column : uint8_t { kId, kAgent, kName, kSymbol };
  constexpr std::string_view kColumns[] = {"id", "agent_id", "name", "symbol"};
  Counters counters;
  BS_TRY(tables.ForEach("info_pmc", kColumns, [&](const TableRows& rows) {
    const std::string name(rows.Text(kName));
    counters.ids.Add(rows.Integer(kId));
    counters.rows.push_back(
        {tables.part.Intern(name.empty() ? rows.Text(kSymbol) : std::string_view(name)),
         tables.AgentOf(rows.Integer(kAgent))});
  }));
  tables.diagnostics().CountMany(Diag::kDuplicateKey, counters.ids.Finish(), Diagnostics::kNoByte,
                                 tables.Name("info_pmc"));
  return counters;
}

// Larger than any count, and small enough to add up.
constexpr double kLargest = 1e290;

void AddValue(RocpdTables& tables, Counters& counters, int64_t event, int64_t id, double value) {
  if (!(std::abs(value) <= kLargest)) {  // NaN, too
    tables.diagnostics().Count(Diag::kNonFiniteNumber, Diagnostics::kNoByte,
                               tables.Name("pmc_event"));
    return;
  }
  const uint32_t row = id == kMissing ? RowIds::kNone : counters.ids.Find(id);
  if (row == RowIds::kNone) {
    tables.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                               tables.Name("info_pmc"));
    return;
  }
  tables.values.push_back({event, counters.rows[row].name, counters.rows[row].agent, value});
}

// Values with one name and one event are those of the parts of a device and are added up.
void SumParts(std::vector<RocpdValue>& values) {
  SortRuns(std::span(values), [](const RocpdValue& a, const RocpdValue& b) {
    return std::tie(a.event, a.name.value, a.agent) < std::tie(b.event, b.name.value, b.agent);
  });
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_part = kept > 0 && values[kept - 1].event == values[i].event &&
                         values[kept - 1].name == values[i].name &&
                         values[kept - 1].agent == values[i].agent;
    if (is_part) {
      values[kept - 1].value += values[i].value;
    } else {
      values[kept++] = values[i];
    }
  }
  values.resize(kept);
}

void AddSample(RocpdTables& tables, const RowTime& time, const RocpdValue& value) {
  Samples& samples = tables.part.data.samples;
  const bool is_known = value.agent != RowIds::kNone;
  const uint32_t row = AddMissingRow(samples);
  samples.ts_ns[row] = time.ts_ns;
  samples.end_ns[row] = time.ts_ns;
  samples.device_type[row] = tables.part.Intern(!is_known                                ? ""
                                                : tables.agents.is_gpu[value.agent] != 0 ? "gpu"
                                                                                         : "cpu");
  samples.device[row] = is_known ? tables.agents.device[value.agent] : kMissing;
  samples.name[row] = value.name;
  samples.value[row] = value.value;
}

auto FirstOf(std::vector<RocpdValue>& values, int64_t event) {
  return std::lower_bound(
      values.begin(), values.end(), event,
      [](const RocpdValue& value, int64_t wanted) { return value.event < wanted; });
}

}  // namespace

bool RocpdTables::HasValues(int64_t event) {
  const auto first = FirstOf(values, event);
  return event != kMissing && first != values.end() && first->event == event;
}

std::span<RocpdValue> RocpdTables::ValuesOf(int64_t event) {
  const auto first = FirstOf(values, event);
  if (event == kMissing || first == values.end() || first->is_used) {
    return {};
  }
  auto end = first;
  for (; end != values.end() && end->event == event; ++end) {
    end->is_used = true;
  }
  return {first, end};
}

// Values of a stream of counters (3.0.3) belong to a time, not to a kernel.
Result<void> ReadRocpdCounters(RocpdTables& tables) {
  enum Column : uint8_t { kEvent, kCounter, kValue, kStreamSample };
  constexpr std::string_view kColumns[] = {"event_id", "pmc_id", "value", "sample_id"};
  tables.values.clear();
  BS_ASSIGN(Counters counters, ReadDescriptions(tables));
  const std::string name = tables.Name("pmc_event");
  const StringId category = tables.part.Intern("PMC_EVENT");
  BS_TRY(tables.ForEach("pmc_event", kColumns, [&](const TableRows& rows) {
    if (rows.Integer(kStreamSample) != kMissing) {
      tables.diagnostics().Count(Diag::kUnreadRows, Diagnostics::kNoByte, name);
      return;
    }
    tables.part.CountEvent('C', category, 0);
    const std::optional<double> value = rows.Number(kValue);
    if (value.has_value()) {
      AddValue(tables, counters, rows.Integer(kEvent), rows.Integer(kCounter), *value);
    }
  }));
  SumParts(tables.values);
  return {};
}

// Several samples may refer to one event: its values belong to the first.
Result<void> ReadRocpdSamples(RocpdTables& tables) {
  enum Column : uint8_t { kTime, kEvent };
  constexpr std::string_view kColumns[] = {"timestamp", "event_id"};
  const std::string name = tables.Name("sample");
  BS_TRY(tables.ForEach("sample", kColumns, [&](const TableRows& rows) {
    const int64_t event = rows.Integer(kEvent);
    const RowTime time = rows.Time(kTime, kTime, name);
    if (!tables.HasValues(event)) {
      tables.diagnostics().Count(Diag::kUnreadRows, Diagnostics::kNoByte, name);
    }
    for (const RocpdValue& value : tables.ValuesOf(event)) {
      if (time.has_start) {
        AddSample(tables, time, value);
      }
    }
  }));
  const auto unused = std::count_if(tables.values.begin(), tables.values.end(),
                                    [](const RocpdValue& value) { return !value.is_used; });
  tables.diagnostics().CountMany(Diag::kUnusedDetail, static_cast<uint64_t>(unused),
                                 Diagnostics::kNoByte, tables.Name("pmc_event"));
  return {};
}

// Allocations and frees of a rocpd database. A free has an address, but no size and mostly no
// device: both are those of the allocation at its address.

namespace {

struct MemoryRow {
  enum Column : uint8_t {
    kProcess,
    kThread,
    kAgent,
    kType,
    kLevel,
    kStart,
    kEnd,
    kAddress,
    kBytes
  };
  static constexpr std::string_view kColumns[] = {"pid",   "tid", "agent_id", "type", "level",
                                                  "start", "end", "address",  "size"};
};

// Numbers of PyTorch's device types.
constexpr int32_t kCpuType = 0;
constexpr int32_t kHipType = 6;
// More than any machine has, and small enough to add up.
constexpr int64_t kMostBytes = int64_t{1} << 61;

enum class Operation : uint8_t { kAllocate, kFree, kReallocate };

std::optional<Operation> OperationOf(std::string_view type) {
  if (type == "ALLOC") {
    return Operation::kAllocate;
  }
  if (type == "REALLOC") {
    return Operation::kReallocate;
  }
  const bool is_free = type == "FREE" || type == "RECLAIM" || type == "ASYNC_RECLAIM";
  return is_free ? std::optional(Operation::kFree) : std::nullopt;
}

// Process, address, and the agent of scratch memory, whose address is not recorded (0).
using Place = std::tuple<int64_t, int64_t, int64_t>;

struct Row {
  int64_t ts_ns;
  Place place;
  int64_t bytes;  // kMissing: not recorded
  Operation operation;
  TrackId track;
  int32_t device_type;
  int32_t device;

  int64_t address() const { return std::get<1>(place); }
};

struct Allocation {
  int64_t bytes;
  int32_t device_type;
  int32_t device;
};

class MemoryReader {
 public:
  explicit MemoryReader(RocpdTables& tables) : tables_(tables), table_("memory_allocate") {}

  void Add(const TableRows& rows);
  // Sorted by time.
  void Finish();

 private:
  void SetDevice(int64_t agent, Row& row);
  void Allocate(const Row& row);
  void Free(Row row);
  void Push(const Row& row, int64_t bytes);

  RocpdTables& tables_;
  std::string_view table_;
  std::vector<Row> rows_;
  std::map<Place, Allocation> live_;
};

void MemoryReader::SetDevice(int64_t agent, Row& row) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const uint32_t at = tables_.AgentOf(agent);
  const bool is_gpu = at != RowIds::kNone && tables_.agents.is_gpu[at] != 0;
  row.device_type = at == RowIds::kNone ? -1 : is_gpu ? kHipType : kCpuType;
  const int64_t device = is_gpu ? tables_.agents.device[at] : -1;
  row.device = device < 0 || device > kMost ? -1 : static_cast<int32_t>(device);
}

// Addresses that were only reserved are not memory.
void MemoryReader::Add(const TableRows& rows) {
  if (rows.Text(MemoryRow::kLevel) == "VIRTUAL") {
    tables_.diagnostics().Count(Diag::kUnreadRows, Diagnostics::kNoByte, "reserved addresses");
    return;
  }
  const std::optional<Operation> operation = OperationOf(rows.Text(MemoryRow::kType));
  const RowTime time = rows.Time(MemoryRow::kStart, MemoryRow::kEnd, table_);
  tables_.part.CountEvent('X', tables_.part.Intern("MEMORY_ALLOCATION"), time.dur_ns);
  const int64_t bytes = rows.Integer(MemoryRow::kBytes);
  const bool is_sized = bytes != kMissing && bytes >= 0 && bytes <= kMostBytes;
  if (!operation.has_value() || (*operation != Operation::kFree && !is_sized)) {
    tables_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte, tables_.Name(table_));
    return;
  }
  if (time.has_start) {
    const int64_t process = rows.Integer(MemoryRow::kProcess);
    const int64_t agent = rows.Integer(MemoryRow::kAgent);
    const bool is_scratch = rows.Text(MemoryRow::kLevel) == "SCRATCH";
    Row row{time.ts_ns,
            {process, rows.Integer(MemoryRow::kAddress), is_scratch ? agent : kMissing},
            is_sized && bytes > 0 ? bytes : kMissing,
            *operation,
            {},
            -1,
            -1};
    row.track = tables_.ThreadOf(process, rows.Integer(MemoryRow::kThread));
    SetDevice(agent, row);
    rows_.push_back(row);
  }
}

void MemoryReader::Push(const Row& row, int64_t bytes) {
  MemoryEvents& memory = tables_.part.data.memory;
  memory.ts_ns.push_back(row.ts_ns);
  memory.track.push_back(row.track);
  memory.device_type.push_back(row.device_type);
  memory.device.push_back(row.device);
  memory.address.push_back(static_cast<uint64_t>(row.address()));
  memory.bytes.push_back(bytes);
  memory.category.push_back(MemoryCategory::kNone);
  memory.total_allocated.push_back(kMissing);
  memory.total_reserved.push_back(kMissing);
}

void MemoryReader::Allocate(const Row& row) {
  const int64_t bytes = row.bytes == kMissing ? 0 : row.bytes;
  live_[row.place] = {bytes, row.device_type, row.device};
  Push(row, bytes);
}

void MemoryReader::Free(Row row) {
  const auto live = live_.find(row.place);
  if (live != live_.end()) {
    row.bytes = live->second.bytes;
    row.device_type = live->second.device_type;
    row.device = live->second.device;
    live_.erase(live);
  }
  if (row.bytes == kMissing) {
    tables_.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                                "a free of memory whose allocation was not recorded");
    return;
  }
  Push(row, -row.bytes);
}

void MemoryReader::Finish() {
  SortRuns(std::span(rows_), [](const Row& a, const Row& b) { return a.ts_ns < b.ts_ns; });
  for (const Row& row : rows_) {
    const bool is_taken = row.operation != Operation::kFree && live_.contains(row.place);
    if (is_taken && row.operation == Operation::kAllocate) {
      tables_.diagnostics().Count(Diag::kDuplicateKey, Diagnostics::kNoByte,
                                  "an allocation where memory is still allocated");
    }
    if (row.operation == Operation::kFree || is_taken) {
      Free(row);
    }
    if (row.operation != Operation::kFree) {
      Allocate(row);
    }
  }
}

}  // namespace

Result<void> ReadRocpdMemory(RocpdTables& tables) {
  MemoryReader reader(tables);
  BS_TRY(tables.ForEach("memory_allocate", MemoryRow::kColumns,
                        [&](const TableRows& rows) { reader.Add(rows); }));
  reader.Finish();
  return {};
}

}  // namespace borescope::internal
