#include "borescope/ingest/rpd/rpd_device.h"

#include <algorithm>
#include <iterator>

#include "borescope/ingest/device_lines.h"
#include "borescope/ingest/rpd/rpd_tables.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

namespace {

struct TypeRow {
  std::string_view start;  // of the type
  DeviceKind kind;
  bool is_cuda;
};

// The first prefix that matches decides.
constexpr TypeRow kTypes[] = {
    {"KernelExecution", DeviceKind::kKernel, false},
    {"Task", DeviceKind::kKernel, false},  // node of a graph
    {"KERNEL_DISPATCH", DeviceKind::kKernel, false},
    {"ConcurrentKernel", DeviceKind::kKernel, true},
    {"Kernel", DeviceKind::kKernel, true},
    {"Copy", DeviceKind::kMemcpy, false},
    {"MEMORY_COPY", DeviceKind::kMemcpy, false},
    {"Memcpy", DeviceKind::kMemcpy, true},
    {"FillBuffer", DeviceKind::kMemset, false},
    {"Memset", DeviceKind::kMemset, true},
};

}  // namespace

RpdOpType FindRpdOpType(std::string_view op_type) {
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& type) {
    return op_type.starts_with(type.start);
  });
  return row == std::end(kTypes) ? RpdOpType() : RpdOpType{row->kind, row->is_cuda, true};
}

std::string_view RpdCopyName(std::string_view name, int64_t copy_kind) {
  constexpr std::string_view kNames[] = {"Memcpy HtoH", "Memcpy HtoD", "Memcpy DtoH",
                                         "Memcpy DtoD"};
  const bool tells = name != "Memcpy" || copy_kind < 0 || copy_kind >= std::ssize(kNames);
  return tells ? name : kNames[copy_kind];
}

namespace {

enum KernelColumn : uint8_t {
  kKernelKey,
  kStream,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kGroupBytes,
  kPrivateBytes,
  kKernelName
};
enum CopyColumn : uint8_t {
  kCopyKey,
  kCopyStream,
  kSize,
  kWidth,
  kHeight,
  kCopyKindColumn,
  kTarget,
  kSource,
  kTargetDevice,
  kSourceDevice,
  kSync,
  kPinned
};

constexpr std::string_view kCallKey = "api_ptr_id";
constexpr std::string_view kOpKey = "op_ptr_id";

// The table of this version, of two; empty if the file has neither.
std::string_view TableOf(const DatabaseSchema& schema, std::string_view by_call,
                         std::string_view by_op) {
  if (schema.Has(by_call, kCallKey)) {
    return by_call;
  }
  return schema.Has(by_op, kOpKey) ? by_op : std::string_view();
}

// Of a launch: 0 where the writer did not know it.
int32_t Dimension(const TableRows& rows, int column) {
  const int32_t size = rows.SmallInteger(column);
  return size == 0 ? -1 : size;
}

}  // namespace

void RpdDetails::AddKernel(RpdTables& tables, const TableRows& rows) {
  kernels_.ids.Add(rows.Integer(kKernelKey));
  kernel_names_.push_back(tables.String(rows.Integer(kKernelName)));
  Kernels& kernels = tables.part.data.kernels;
  kernels.grid_x.push_back(Dimension(rows, kGridX));
  kernels.grid_y.push_back(Dimension(rows, kGridY));
  kernels.grid_z.push_back(Dimension(rows, kGridZ));
  kernels.block_x.push_back(Dimension(rows, kBlockX));
  kernels.block_y.push_back(Dimension(rows, kBlockY));
  kernels.block_z.push_back(Dimension(rows, kBlockZ));
  kernels.registers.push_back(-1);
  kernels.shared_bytes.push_back(rows.SmallInteger(kGroupBytes));
  kernels.occupancy_percent.push_back(-1);
  kernels.private_bytes.push_back(rows.SmallInteger(kPrivateBytes));
  kernels.graph_node_id.push_back(kMissing);
  kernels.stream_handle.push_back(tables.part.Intern(rows.Text(kStream)));
  kernels.has_stream.push_back(MissingValue<char>());
  kernels.collective.push_back(kNoDetail);
}

Result<void> RpdDetails::ReadKernels(RpdTables& tables) {
  const std::string_view table = TableOf(tables.schema, "rocpd_kernelapi", "rocpd_kernelop");
  if (table.empty()) {
    return {};
  }
  kernels_.by_op = table == "rocpd_kernelop";
  const std::string_view columns[] = {kernels_.by_op ? kOpKey : kCallKey,
                                      "stream",
                                      "gridX",
                                      "gridY",
                                      "gridZ",
                                      "workgroupX",
                                      "workgroupY",
                                      "workgroupZ",
                                      "groupSegmentSize",
                                      "privateSegmentSize",
                                      "kernelName_id"};
  BS_ASSIGN(TableRows rows, tables.Open(table, columns));
  BS_TRY(rows.ForEach([&] { AddKernel(tables, rows); }));
  kernels_.is_used.assign(kernels_.ids.size(), 0);
  tables.diagnostics().CountMany(Diag::kDuplicateKey, kernels_.ids.Finish(), Diagnostics::kNoByte,
                                 table);
  return {};
}

void RpdDetails::AddCopy(RpdTables& tables, const TableRows& rows, bool is_swapped) {
  copies_.ids.Add(rows.Integer(kCopyKey));
  // The tracer writes an empty text for values that do not fit into 31 bits.
  const int64_t bytes = rows.Integer(kSize);
  copy_bytes_.push_back(bytes > 0 ? bytes : kMissing);
  if (bytes <= 0) {
    tables.diagnostics().Count(Diag::kUnknownCopySize, Diagnostics::kNoByte,
                               copies_.by_op ? "rocpd_copyop.size" : "rocpd_copyapi.size");
  }
  CopyCalls& calls = tables.part.data.copy_calls;
  const uint32_t row = AddMissingRow(calls);
  calls.kind[row] = rows.Integer(kCopyKindColumn);
  calls.stream_handle[row] = tables.part.Intern(rows.Text(kCopyStream));
  calls.source[row] = tables.part.Intern(rows.Text(is_swapped ? kTarget : kSource));
  calls.target[row] = tables.part.Intern(rows.Text(is_swapped ? kSource : kTarget));
  calls.source_device[row] = rows.Integer(is_swapped ? kTargetDevice : kSourceDevice);
  calls.target_device[row] = rows.Integer(is_swapped ? kSourceDevice : kTargetDevice);
  calls.width[row] = rows.Integer(kWidth);
  calls.height[row] = rows.Integer(kHeight);
  calls.is_sync[row] = rows.Integer(kSync);
  calls.is_pinned[row] = rows.Integer(kPinned);
}

Result<void> RpdDetails::ReadCopies(RpdTables& tables, bool is_swapped) {
  const std::string_view table = TableOf(tables.schema, "rocpd_copyapi", "rocpd_copyop");
  if (table.empty()) {
    return {};
  }
  copies_.by_op = table == "rocpd_copyop";
  const std::string_view columns[] = {copies_.by_op ? kOpKey : kCallKey,
                                      "stream",
                                      "size",
                                      "width",
                                      "height",
                                      "kind",
                                      "dst",
                                      "src",
                                      "dstDevice",
                                      "srcDevice",
                                      "sync",
                                      "pinned"};
  BS_ASSIGN(TableRows rows, tables.Open(table, columns));
  BS_TRY(rows.ForEach([&] { AddCopy(tables, rows, is_swapped); }));
  copies_.is_used.assign(copies_.ids.size(), 0);
  tables.diagnostics().CountMany(Diag::kDuplicateKey, copies_.ids.Finish(), Diagnostics::kNoByte,
                                 table);
  if (is_swapped && copies_.ids.size() > 0) {
    tables.diagnostics().Count(Diag::kSwappedCopyEnds, Diagnostics::kNoByte, table);
  }
  return {};
}

Result<void> RpdDetails::Read(RpdTables& tables, bool is_swapped) {
  BS_TRY(ReadKernels(tables));
  return ReadCopies(tables, is_swapped);
}

uint32_t RpdDetails::Kernel(int64_t call, int64_t op, StringId name) {
  const uint32_t row = kernels_.Find(call, op);
  if (row == RowIds::kNone || kernels_.is_used[row] != 0) {
    return kNoDetail;
  }
  constexpr StringId kNoName{0};
  const StringId described = kernel_names_[row];
  if (described != name && described != kNoName && name != kNoName) {
    return kNoDetail;
  }
  kernels_.is_used[row] = 1;
  return row;
}

uint32_t RpdDetails::Copy(RpdTables& tables, int64_t call, int64_t op) {
  const uint32_t row = copies_.Find(call, op);
  if (row == RowIds::kNone || copies_.is_used[row] != 0) {
    return kNoDetail;
  }
  copies_.is_used[row] = 1;
  Copies& copies = tables.part.data.copies;
  copies.bytes.push_back(copy_bytes_[row]);
  copies.gbps.push_back(-1.0);
  copies.call.push_back(row);
  return static_cast<uint32_t>(copies.size() - 1);
}

int64_t RpdDetails::CopyKind(const RpdTables& tables, int64_t call, int64_t op) {
  const uint32_t row = copies_.Find(call, op);
  return row == RowIds::kNone ? kMissing : tables.part.data.copy_calls.kind[row];
}

void RpdDetails::CountUnused(Diagnostics& diagnostics) const {
  for (const Keys* keys : {&kernels_, &copies_}) {
    diagnostics.CountMany(Diag::kUnusedDetail, static_cast<uint64_t>(std::count(
                                                   keys->is_used.begin(), keys->is_used.end(), 0)));
  }
}

namespace {

enum Column : uint8_t { kId, kDevice, kQueue, kSequence, kStart, kEnd, kDescription, kType };
constexpr std::string_view kColumns[] = {"id",    "gpuId", "queueId",        "sequenceId",
                                         "start", "end",   "description_id", "opType_id"};

// rocpd_api_ops: the calls that launched each work item.
struct Launches {
  RowIds ops;                  // ids of rocpd_op
  std::vector<int64_t> calls;  // ids of rocpd_api, by row
  size_t linked = 0;           // rows used by device work
  size_t repeated = 0;         // rows that refer to device work again

  int64_t CallOf(int64_t op) {
    const uint32_t row = op == kMissing ? RowIds::kNone : ops.Find(op);
    linked += row == RowIds::kNone ? 0 : 1;
    return row == RowIds::kNone ? kMissing : calls[row];
  }
};

Result<Launches> ReadLaunches(RpdTables& tables) {
  Launches launches;
  if (!tables.schema.Has("rocpd_api_ops")) {
    return launches;
  }
  constexpr std::string_view kLinkColumns[] = {"api_id", "op_id"};
  BS_ASSIGN(TableRows rows, tables.Open("rocpd_api_ops", kLinkColumns));
  BS_TRY(rows.ForEach([&] {
    launches.calls.push_back(rows.Integer(0));
    launches.ops.Add(rows.Integer(1));
  }));
  launches.repeated = launches.ops.Finish();
  tables.diagnostics().CountMany(Diag::kSeveralLaunches, launches.repeated);
  return launches;
}

class DeviceReader {
 public:
  DeviceReader(RpdTables& tables, Launches launches)
      : tables_(tables), launches_(std::move(launches)) {}

  Result<void> Read(bool is_swapped);

 private:
  void Add(const TableRows& rows);
  RpdOpType TypeOf(StringId type);
  int64_t ProcessOf(int64_t call);
  uint32_t AddDetail(DeviceKind kind, int64_t call, int64_t op, StringId description);
  StringId NameOf(const RpdOpType& type, StringId type_name, StringId description, int64_t call,
                  int64_t op);
  void CountDanglingLaunches();

  RpdTables& tables_;
  Launches launches_;
  RpdDetails details_;
  DeviceLines lines_;
  std::vector<RpdOpType> types_;  // by StringId
  std::vector<char> type_seen_;
};

RpdOpType DeviceReader::TypeOf(StringId type) {
  if (type.value >= types_.size()) {
    types_.resize(type.value + 1);
    type_seen_.resize(type.value + 1, 0);
  }
  const std::string_view text = tables_.part.data.strings.Get(type);
  if (type_seen_[type.value] == 0) {
    types_[type.value] = FindRpdOpType(text);
    type_seen_[type.value] = 1;
    tables_.saw_cuda |= types_[type.value].is_cuda;
  }
  if (!types_[type.value].is_known) {
    tables_.diagnostics().Count(Diag::kUnknownWork, Diagnostics::kNoByte, text);
  }
  return types_[type.value];
}

// The process whose call started the work; kMissing if that was not recorded.
int64_t DeviceReader::ProcessOf(int64_t call) {
  const uint32_t row = call == kMissing ? RowIds::kNone : tables_.calls.Find(call);
  const TraceData& data = tables_.part.data;
  return row == RowIds::kNone ? kMissing : data.tracks.pid[data.host.track[row].value];
}

uint32_t DeviceReader::AddDetail(DeviceKind kind, int64_t call, int64_t op, StringId description) {
  return kind == DeviceKind::kKernel ? details_.Kernel(call, op, description)
                                     : details_.Copy(tables_, call, op);
}

StringId DeviceReader::NameOf(const RpdOpType& type, StringId type_name, StringId description,
                              int64_t call, int64_t op) {
  if (description != StringId{0}) {
    return description;
  }
  if (type.kind != DeviceKind::kMemcpy || !type.is_cuda) {
    return type_name;
  }
  return tables_.part.Intern(
      RpdCopyName(tables_.part.data.strings.Get(type_name), details_.CopyKind(tables_, call, op)));
}

void DeviceReader::Add(const TableRows& rows) {
  const int64_t op = rows.Integer(kId);
  const int64_t call = launches_.CallOf(op);
  const StringId type_name = tables_.String(rows.Integer(kType));
  const StringId description = tables_.String(rows.Integer(kDescription));
  const RpdOpType type = TypeOf(type_name);
  const StringId name = NameOf(type, type_name, description, call, op);
  const RowTime time = rows.Time(kStart, kEnd, tables_.part.data.strings.Get(name));
  tables_.part.CountEvent('X', type_name, time.dur_ns);
  if (!time.has_start) {
    return;
  }
  AddDeviceRow(tables_.part.data.device, {.ts_ns = time.ts_ns,
                                          .dur_ns = time.dur_ns,
                                          .name = name,
                                          .kind = type.kind,
                                          .correlation = call,
                                          .detail = AddDetail(type.kind, call, op, description)});
  lines_.Add(rows.Integer(kDevice, -1), rows.Integer(type.is_cuda ? kSequence : kQueue, -1),
             ProcessOf(call));
}

void DeviceReader::CountDanglingLaunches() {
  const size_t good = launches_.repeated + launches_.linked;
  const size_t all = launches_.calls.size();
  tables_.diagnostics().CountMany(Diag::kDanglingReference, all > good ? all - good : 0,
                                  Diagnostics::kNoByte, "rocpd_api_ops.op_id");
}

Result<void> DeviceReader::Read(bool is_swapped) {
  BS_TRY(details_.Read(tables_, is_swapped));
  BS_ASSIGN(TableRows rows, tables_.Open("rocpd_op", kColumns));
  BS_TRY(rows.ForEach([&] { Add(rows); }));
  lines_.AssignTracks(tables_.part);
  details_.CountUnused(tables_.diagnostics());
  CountDanglingLaunches();
  for (const int64_t device : lines_.Devices()) {
    DeviceInfo info;
    info.id = device;
    tables_.part.data.meta.devices.push_back(std::move(info));
  }
  return {};
}

}  // namespace

Result<void> ReadRpdDeviceWork(RpdTables& tables, bool is_swapped) {
  BS_ASSIGN(Launches launches, ReadLaunches(tables));
  return DeviceReader(tables, std::move(launches)).Read(is_swapped);
}

}  // namespace borescope::internal
