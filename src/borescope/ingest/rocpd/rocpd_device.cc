#include <algorithm>

#include "borescope/ingest/rocpd/rocpd_tables.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/event_rows.h"

namespace borescope::internal {
namespace {

// Common columns of kernels and copies.
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
constexpr std::string_view kKernelColumns[] = {"pid",
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
constexpr std::string_view kCopyColumns[] = {
    "pid",     "start",        "end",         "queue_id",     "stream_id",   "event_id",
    "name_id", "dst_agent_id", "dst_address", "src_agent_id", "src_address", "size"};

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
  const uint32_t event = tables_.events.ids.Find(rows.Integer(kEvent));
  const int64_t link = event == RowIds::kNone ? kMissing : tables_.events.link[event];
  const int64_t process = rows.Integer(kProcess);
  AddDeviceRow(tables_.part.data.device, {.ts_ns = time.ts_ns,
                                          .dur_ns = time.dur_ns,
                                          .name = name,
                                          .kind = kind,
                                          .correlation = tables_.Unique(process, link),
                                          .detail = detail});
  tables_.lines.Add(device == kMissing ? -1 : device,
                    rows.Integer(kStream, rows.Integer(kQueue, -1)),
                    tables_.processes.Get(process));
}

uint32_t DeviceReader::KernelDetail(const TableRows& rows, uint32_t symbol) {
  Kernels& kernels = tables_.part.data.kernels;
  const uint32_t row = AddMissingRow(kernels);
  kernels.block_x[row] = rows.SmallInteger(kBlockX);
  kernels.block_y[row] = rows.SmallInteger(kBlockY);
  kernels.block_z[row] = rows.SmallInteger(kBlockZ);
  kernels.grid_x[row] = Groups(rows.SmallInteger(kGridX), kernels.block_x[row]);
  kernels.grid_y[row] = Groups(rows.SmallInteger(kGridY), kernels.block_y[row]);
  kernels.grid_z[row] = Groups(rows.SmallInteger(kGridZ), kernels.block_z[row]);
  kernels.shared_bytes[row] = rows.SmallInteger(kGroupBytes);
  kernels.private_bytes[row] = rows.SmallInteger(kPrivateBytes);
  kernels.graph_node_id[row] = rows.Integer(kGraphNode);
  kernels.stream_handle[row] = StringId{0};
  kernels.registers[row] = symbol == RowIds::kNone ? -1 : tables_.symbols.registers[symbol];
  return row;
}

// The counters measured while the kernel ran, as a range over it.
void DeviceReader::AddCounters(const TableRows& rows, StringId name, int64_t device, RowTime time) {
  const std::span<RocpdValue> values = tables_.ValuesOf(rows.Integer(kEvent));
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
  const int64_t id = rows.Integer(kSymbol);
  const uint32_t symbol = id == kMissing ? RowIds::kNone : tables_.symbols.ids.Find(id);
  if (symbol == RowIds::kNone) {
    tables_.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                                tables_.Name("info_kernel_symbol"));
  }
  const StringId name = symbol == RowIds::kNone ? StringId{0} : tables_.symbols.name[symbol];
  const RowTime time = rows.Time(kStart, kEnd, tables_.part.data.strings.Get(name));
  tables_.part.CountEvent('X', tables_.part.Intern("KERNEL_DISPATCH"), time.dur_ns);
  if (time.has_start) {
    const uint32_t agent = tables_.AgentOf(rows.Integer(kAgent));
    Push(rows, DeviceKind::kKernel, name, DeviceOf(agent), KernelDetail(rows, symbol), time);
    AddCounters(rows, name, DeviceOf(agent), time);
  }
}

uint32_t DeviceReader::CopyDetail(const TableRows& rows, uint32_t source, uint32_t target) {
  TraceData& data = tables_.part.data;
  const uint32_t call = AddMissingRow(data.copy_calls);
  data.copy_calls.stream_handle[call] = StringId{0};
  data.copy_calls.source[call] = tables_.part.Intern(rows.Text(kSourceAddress));
  data.copy_calls.target[call] = tables_.part.Intern(rows.Text(kTargetAddress));
  data.copy_calls.source_device[call] = DeviceOf(source);
  data.copy_calls.target_device[call] = DeviceOf(target);
  const uint32_t row = AddMissingRow(data.copies);
  data.copies.bytes[row] = rows.Integer(kBytes);
  data.copies.call[row] = call;
  return row;
}

// A copy belongs to the device it writes to, or to the one it reads from if it writes to the host.
void DeviceReader::AddCopy(const TableRows& rows) {
  const StringId name = tables_.String(rows.Integer(kName));
  const RowTime time = rows.Time(kStart, kEnd, tables_.part.data.strings.Get(name));
  tables_.part.CountEvent('X', name, time.dur_ns);
  if (time.has_start) {
    const uint32_t source = tables_.AgentOf(rows.Integer(kSourceAgent));
    const uint32_t target = tables_.AgentOf(rows.Integer(kTargetAgent));
    Push(rows, DeviceKind::kMemcpy, name, DeviceOf(IsGpu(target) ? target : source),
         CopyDetail(rows, source, target), time);
  }
}

}  // namespace

Result<void> ReadRocpdDeviceWork(RocpdTables& tables) {
  DeviceReader reader(tables);
  BS_TRY(tables.ForEach("kernel_dispatch", kKernelColumns,
                        [&](const TableRows& rows) { reader.AddKernel(rows); }));
  return tables.ForEach("memory_copy", kCopyColumns,
                        [&](const TableRows& rows) { reader.AddCopy(rows); });
}

}  // namespace borescope::internal
