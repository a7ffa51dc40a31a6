#include <algorithm>
#include <unordered_map>

#include "borescope/ingest/rpd_details.h"
#include "borescope/ingest/rpd_op_types.h"
#include "borescope/ingest/rpd_tables.h"

namespace borescope {
namespace {

enum Column : uint8_t { kId, kDevice, kQueue, kSequence, kStart, kEnd, kDescription, kType };
constexpr std::string_view kColumns[] = {"id",    "gpuId", "queueId",        "sequenceId",
                                         "start", "end",   "description_id", "opType_id"};

// rocpd_api_ops: the calls behind each piece of device work.
struct Launches {
  RowIds ops;                  // ids of rocpd_op
  std::vector<int64_t> calls;  // ids of rocpd_api, by row
  size_t linked = 0;           // rows that device work asked for
  size_t repeated = 0;         // rows that name device work once more

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
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Next());
    if (!is_row) {
      break;
    }
    launches.calls.push_back(rows.Integer(0));
    launches.ops.Add(rows.Integer(1));
  }
  launches.repeated = launches.ops.Finish();
  tables.diagnostics().CountMany(Diag::kSeveralLaunches, launches.repeated);
  return launches;
}

// Streams of devices. Processes number theirs alike: where several write to one number, each has a
// line of its own; work whose process is not known goes with the others if there is but one.
class DeviceLines {
 public:
  // `process` kMissing: not known.
  void Add(int64_t device, int64_t stream, int64_t process);
  // The tracks of all that was added, in that order.
  void AssignTracks(TracePart& part) const;
  std::vector<int64_t> Devices() const;

 private:
  struct Line {
    int64_t device;
    int64_t stream;
    int64_t process;  // the first that is known
    bool is_shared;
  };
  struct KeyHash {
    size_t operator()(const std::pair<int64_t, int64_t>& key) const {
      const uint64_t mix = static_cast<uint64_t>(key.first) * 0x9e3779b97f4a7c15ULL ^
                           static_cast<uint64_t>(key.second) * 0xff51afd7ed558ccdULL;
      return mix ^ (mix >> 31);
    }
  };

  std::vector<Line> lines_;
  std::unordered_map<std::pair<int64_t, int64_t>, uint32_t, KeyHash> line_of_;
  std::vector<uint32_t> row_lines_;
  std::vector<int64_t> row_processes_;
};

void DeviceLines::Add(int64_t device, int64_t stream, int64_t process) {
  uint32_t at = row_lines_.empty() ? 0 : row_lines_.back();
  if (lines_.empty() || lines_[at].device != device || lines_[at].stream != stream) {
    const auto [place, is_new] =
        line_of_.try_emplace({device, stream}, static_cast<uint32_t>(lines_.size()));
    at = place->second;
    if (is_new) {
      lines_.push_back({device, stream, process, false});
    }
  }
  Line& line = lines_[at];
  line.process = line.process == kMissing ? process : line.process;
  line.is_shared |= process != kMissing && process != line.process;
  row_lines_.push_back(at);
  row_processes_.push_back(process);
}

void DeviceLines::AssignTracks(TracePart& part) const {
  std::vector<TrackId>& tracks = part.data.device.track;
  tracks.reserve(row_lines_.size());
  for (size_t row = 0; row < row_lines_.size(); ++row) {
    const Line& line = lines_[row_lines_[row]];
    tracks.push_back(part.Track(TrackKind::kDevice, line.device, line.stream,
                                line.is_shared ? row_processes_[row] : kMissing));
  }
}

std::vector<int64_t> DeviceLines::Devices() const {
  std::vector<int64_t> devices;
  devices.reserve(lines_.size());
  for (const Line& line : lines_) {
    devices.push_back(line.device);
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
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

// The process whose call started the work; kMissing when that was not recorded.
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
  DeviceEvents& device = tables_.part.data.device;
  device.ts_ns.push_back(time.ts_ns);
  device.dur_ns.push_back(time.dur_ns);
  device.name.push_back(name);
  device.kind.push_back(type.kind);
  device.correlation.push_back(call);
  device.external_id.push_back(kMissing);
  device.detail.push_back(AddDetail(type.kind, call, op, description));
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
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Next());
    if (!is_row) {
      break;
    }
    Add(rows);
  }
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

}  // namespace borescope
