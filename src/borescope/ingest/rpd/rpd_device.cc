#include "borescope/ingest/device_lines.h"
#include "borescope/ingest/rpd/rpd_details.h"
#include "borescope/ingest/rpd/rpd_op_types.h"
#include "borescope/ingest/rpd/rpd_tables.h"
#include "borescope/trace/event_rows.h"

namespace borescope::internal {
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
