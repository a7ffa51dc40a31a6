#include "borescope/ingest/cupti/cupti_trace.h"

#include <algorithm>
#include <limits>
#include <set>

#include "borescope/ingest/time_limit.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

namespace {

bool IsNumber(int64_t number) { return number != kMissing && number >= 0; }

}  // namespace

void ContextDevices::Note(Numbers& numbers, std::pair<int64_t, int64_t> key, int64_t device,
                          Source source) {
  const auto [place, is_new] = numbers.try_emplace(key, Known{device, source, false});
  Known& known = place->second;
  if (is_new || source > known.source) {
    return;
  }
  if (source < known.source) {
    known = {device, source, false};
  } else if (known.device != device) {
    known.is_disputed = true;
  }
}

void ContextDevices::Learn(const Place& place, int64_t device, Source source) {
  const std::tuple row(place.process, place.context, place.stream, device, source);
  if (!IsNumber(device) || row == last_) {
    return;
  }
  last_ = row;
  if (IsNumber(place.context)) {
    Note(contexts_, {place.process, place.context}, device, source);
  }
  if (IsNumber(place.stream)) {
    Note(streams_, {place.process, place.stream}, device, source);
  }
}

int64_t ContextDevices::Find(const Place& place, int64_t recorded) const {
  if (const auto known = contexts_.find({place.process, place.context});
      known != contexts_.end() && !known->second.is_disputed) {
    return known->second.device;
  }
  const auto known = streams_.find({place.process, place.stream});
  return known == streams_.end() || known->second.is_disputed ? recorded : known->second.device;
}

StringId EventNames::Get(int64_t number) {
  const StringId recorded = strings_.Find(number);
  if (!recorded.valid()) {
    part_.data.diagnostics.Count(
        Diag::kMissingName, Diagnostics::kNoByte,
        number == kMissing ? "" : "string " + std::to_string(number) + " is not in the file");
    return StringId{0};
  }
  if (names_.size() <= recorded.value) {
    names_.resize(recorded.value + 1);
  }
  StringId& name = names_[recorded.value];
  if (!name.valid()) {
    name = part_.Intern(translate_(part_.data.strings.Get(recorded)));
  }
  return name;
}

Result<void> CountOtherTables(const DatabaseInput& input, std::span<const std::string_view> known,
                              TracePart& part) {
  for (const auto& [table, columns] : input.schema.tables()) {
    const bool is_timed = std::any_of(columns.begin(), columns.end(), [](const std::string& name) {
      return name == "start" || name == "timestamp" || name == "rawTimestamp";
    });
    if (!is_timed || std::find(known.begin(), known.end(), table) != known.end()) {
      continue;
    }
    BS_ASSIGN(SqlStatement count, input.database.Prepare("SELECT count(*) FROM " + SqlName(table)));
    BS_ASSIGN(const bool is_row, count.Step());
    const int64_t rows = is_row ? count.Integer(0) : 0;
    if (rows > 0) {
      part.CountEvent('?', part.Intern(table), 0);
      part.AddCount(static_cast<uint64_t>(rows) - 1);
    }
  }
  return {};
}

namespace {

// CUPTI counts calls in 32 bits.
constexpr int64_t kMostCorrelation = std::numeric_limits<uint32_t>::max();
// "No stream" as an unsigned number: a wait for a whole context.
constexpr int64_t kNoStream = std::numeric_limits<uint32_t>::max();

enum CopyColumn : uint8_t {
  kCopyKind = kWorkColumns,
  kCopySource,
  kCopyTarget,
  kCopyBytes,
  kCopySourceDevice,
  kCopyTargetDevice,
  kCopyGraphNode
};
enum MemsetColumn : uint8_t {
  kMemsetKind = kWorkColumns,
  kMemsetKindOfNvprof,
  kMemsetBytes,
  kMemsetGraphNode
};
enum GraphColumn : uint8_t { kGraphId = kWorkColumns };

int64_t FirstOf(TableRows& row, int column, int other) {
  const int64_t value = row.Integer(column);
  return value == kMissing ? row.Integer(other) : value;
}

// Numbers that a row does not have are -1.
int64_t TrackNumber(int64_t recorded) { return recorded == kMissing ? -1 : recorded; }

int64_t StreamOf(TableRows& row) {
  const int64_t stream = row.Integer(kWorkStream);
  return stream == kNoStream ? -1 : TrackNumber(stream);
}

}  // namespace

int64_t CuptiTrace::ProcessOf(int64_t global_id) {
  return global_id == kMissing ? kMissing : global_id >> 24 & 0xffffff;
}

int64_t CuptiTrace::Correlation(int64_t recorded, int64_t process) {
  if (recorded == kMissing || recorded <= 0 || (by_process_ && process == kMissing)) {
    return kMissing;
  }
  if (recorded > kMostCorrelation) {
    diagnostics().Count(Diag::kIntegerOverflow, Diagnostics::kNoByte, "a correlation number");
    return kMissing;
  }
  if (!by_process_) {
    return recorded;
  }
  if (process != last_process_) {
    const auto next = static_cast<int64_t>(processes_.size());
    last_process_ = process;
    last_process_number_ = processes_.try_emplace(process, next).first->second;
  }
  return recorded + (last_process_number_ << 32);
}

int64_t CuptiTrace::Clamped(int64_t ns) {
  const int64_t clamped = std::clamp(ns, -kTimeLimitNs, kTimeLimitNs);
  if (clamped != ns) {
    diagnostics().Count(Diag::kIntegerOverflow, Diagnostics::kNoByte, Table());
  }
  return clamped;
}

bool CuptiTrace::Time(int64_t start, int64_t end, ActivityTime& time) {
  if (start == kMissing) {
    diagnostics().Count(Diag::kMissingTimestamp, Diagnostics::kNoByte, Table());
    part_.CountEvent('X', category_, 0);
    return false;
  }
  time.ts_ns = Clamped(start);
  // nvprof writes 0 for events that had not ended.
  if (end == kMissing || (end == 0 && start > 0)) {
    diagnostics().Count(Diag::kMissingDuration, Diagnostics::kNoByte, Table());
    time.dur_ns = 0;
  } else {
    time.dur_ns = Clamped(end) - time.ts_ns;
  }
  if (time.dur_ns < 0) {
    diagnostics().Count(Diag::kNegativeDuration, Diagnostics::kNoByte, Table());
    time.dur_ns = 0;
  }
  part_.CountEvent('X', category_, time.dur_ns);
  return true;
}

int32_t CuptiTrace::Small(int64_t value) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (value == kMissing || value < 0) {
    return -1;
  }
  if (value > kMost) {
    diagnostics().Count(Diag::kIntegerOverflow, Diagnostics::kNoByte, Table());
  }
  return static_cast<int32_t>(std::min(value, kMost));
}

ContextDevices::Place CuptiTrace::PlaceOf(TableRows& row) const {
  return {ProcessOf(row.Integer(kWorkProcess)), row.Integer(kWorkContext), StreamOf(row)};
}

// False if the row has no place on the timeline; `detail` then has no owner.
bool CuptiTrace::AddWork(TableRows& row, DeviceKind kind, StringId name, uint32_t detail) {
  const int64_t device = row.Integer(kWorkDevice);
  if (IsDeviceWork(kind)) {
    contexts_.Learn(PlaceOf(row), device,
                    kind == DeviceKind::kMemcpy ? ContextDevices::Source::kCopy
                                                : ContextDevices::Source::kWork);
  }
  return AddRow(row, {device, kind, name, detail});
}

bool CuptiTrace::AddRow(TableRows& row, const WorkRow& work) {
  ActivityTime time;
  if (!Time(row.Integer(kWorkStart), row.Integer(kWorkEnd), time)) {
    return false;
  }
  const int64_t process = ProcessOf(row.Integer(kWorkProcess));
  const TrackId track =
      part_.Track(TrackKind::kDevice, TrackNumber(work.device), StreamOf(row), process);
  AddDeviceRow(part_.data.device,
               {.ts_ns = time.ts_ns,
                .dur_ns = time.dur_ns,
                .name = work.name,
                .track = track,
                .kind = work.kind,
                .correlation = Correlation(row.Integer(kWorkCorrelation), process),
                .detail = work.detail});
  return true;
}

void CuptiTrace::RememberGraph(int64_t graph_node) {
  if (graph_node == kMissing || graph_node == 0) {
    return;
  }
  const int64_t launch = part_.data.device.correlation.back();
  if (launch != kMissing && launch != last_graph_launch_) {
    graph_launches_.insert(launch);
    last_graph_launch_ = launch;
  }
}

void CuptiTrace::AddKernel(TableRows& row, StringId name) {
  Kernels& kernels = part_.data.kernels;
  if (!AddWork(row, DeviceKind::kKernel, name, static_cast<uint32_t>(kernels.size()))) {
    return;
  }
  kernels.grid_x.push_back(Small(row.Integer(kKernelGridX)));
  kernels.grid_y.push_back(Small(row.Integer(kKernelGridY)));
  kernels.grid_z.push_back(Small(row.Integer(kKernelGridZ)));
  kernels.block_x.push_back(Small(row.Integer(kKernelBlockX)));
  kernels.block_y.push_back(Small(row.Integer(kKernelBlockY)));
  kernels.block_z.push_back(Small(row.Integer(kKernelBlockZ)));
  kernels.registers.push_back(Small(row.Integer(kKernelRegisters)));
  const int32_t fixed = Small(row.Integer(kKernelStaticShared));
  const int32_t dynamic = Small(row.Integer(kKernelDynamicShared));
  kernels.shared_bytes.push_back(
      fixed < 0 && dynamic < 0 ? -1 : Small(int64_t{std::max(fixed, 0)} + std::max(dynamic, 0)));
  kernels.private_bytes.push_back(Small(row.Integer(kKernelLocal)));
  kernels.occupancy_percent.push_back(-1);
  const int64_t node = row.Integer(kKernelGraphNode);
  kernels.graph_node_id.push_back(node == 0 ? kMissing : node);
  kernels.stream_handle.push_back(StringId{0});
  kernels.has_stream.push_back(MissingValue<char>());
  kernels.collective.push_back(kNoDetail);
  RememberGraph(node);
}

void CuptiTrace::AddCopy(TableRows& row) {
  const int64_t kind = row.Integer(kCopyKind);
  if (kind != kMissing && !IsCopyKind(kind)) {
    diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte,
                        "copyKind " + std::to_string(kind));
  }
  const StringId name = part_.Intern(
      CopyName(kind, row.Integer(kCopySource), row.Integer(kCopyTarget), memory_kinds_));
  if (!AddWork(row, DeviceKind::kMemcpy, name, static_cast<uint32_t>(part_.data.copies.size()))) {
    return;
  }
  CopyCalls& calls = part_.data.copy_calls;
  const uint32_t call = AddMissingRow(calls);
  calls.kind[call] = kind;
  calls.source_device[call] = row.Integer(kCopySourceDevice);
  calls.target_device[call] = row.Integer(kCopyTargetDevice);
  part_.data.copies.bytes.push_back(row.Integer(kCopyBytes));
  part_.data.copies.gbps.push_back(-1);
  part_.data.copies.call.push_back(call);
  RememberGraph(row.Integer(kCopyGraphNode));
}

void CuptiTrace::AddMemset(TableRows& row) {
  const StringId name =
      part_.Intern(MemsetName(FirstOf(row, kMemsetKind, kMemsetKindOfNvprof), memory_kinds_));
  if (!AddWork(row, DeviceKind::kMemset, name, static_cast<uint32_t>(part_.data.copies.size()))) {
    return;
  }
  part_.data.copies.bytes.push_back(row.Integer(kMemsetBytes));
  part_.data.copies.gbps.push_back(-1);
  part_.data.copies.call.push_back(kNoDetail);
  RememberGraph(row.Integer(kMemsetGraphNode));
}

void CuptiTrace::AddSync(TableRows& row) { AddSync(row, kMissing, -1); }

void CuptiTrace::AddSync(TableRows& row, int64_t event_stream, int64_t event_correlation) {
  const StringId name = part_.Intern(SyncName(FirstOf(row, kSyncType, kSyncTypeOfNvprof)));
  Syncs& syncs = part_.data.syncs;
  const int64_t device = contexts_.Find(PlaceOf(row), row.Integer(kWorkDevice));
  if (AddRow(row, {device, DeviceKind::kSync, name, static_cast<uint32_t>(syncs.size())})) {
    syncs.stream.push_back(StreamOf(row));
    syncs.wait_on_stream.push_back(event_stream);
    syncs.wait_on_record_correlation.push_back(event_correlation);
  }
}

void CuptiTrace::AddGraphLaunch(TableRows& row) {
  const int64_t graph = row.Integer(kGraphId);
  const StringId name =
      part_.Intern(graph == kMissing ? "CUDA graph" : "CUDA graph " + std::to_string(graph));
  const int64_t launch =
      Correlation(row.Integer(kWorkCorrelation), ProcessOf(row.Integer(kWorkProcess)));
  if (graph_launches_.contains(launch)) {
    AddRow(row, {row.Integer(kWorkDevice), DeviceKind::kAnnotation, name, kNoDetail});
    return;
  }
  Kernels& kernels = part_.data.kernels;
  if (AddWork(row, DeviceKind::kKernel, name, static_cast<uint32_t>(kernels.size()))) {
    AddMissingRow(kernels);
  }
}

TrackId CuptiTrace::Thread(int64_t process, int64_t thread) {
  return part_.Track(TrackKind::kHost, TrackNumber(process), TrackNumber(thread));
}

TrackId CuptiTrace::AsyncThread(int64_t process, int64_t thread) {
  return part_.AsyncTrack(TrackNumber(process), TrackNumber(thread));
}

uint32_t CuptiTrace::AddHost(ActivityTime time, HostKind kind, StringId name, TrackId track,
                             uint32_t detail) {
  return AddHostRow(part_.data.host, {time.ts_ns, time.dur_ns, name, track, kind, detail});
}

void CuptiTrace::AddCall(ActivityTime time, StringId name, TrackId track, int64_t correlation) {
  RuntimeCalls& calls = part_.data.runtime_calls;
  AddHost(time, HostKind::kRuntime, name, track, static_cast<uint32_t>(calls.size()));
  calls.correlation.push_back(correlation);
  calls.external_id.push_back(kMissing);
  calls.domain.push_back(StringId{0});
  calls.args.push_back(StringId{0});
  calls.kernel.push_back(StringId{0});
}

void CuptiTrace::AddLibraryCall(ActivityTime time, StringId name, TrackId track, StringId domain) {
  const uint32_t row = AddMissingRow(part_.data.runtime_calls);
  part_.data.runtime_calls.domain[row] = domain;
  AddHost(time, HostKind::kOther, name, track, row);
}

void CuptiTrace::AddDomainOf(StringId range, StringId domain) {
  if (names_in_domains_.insert(range.value).second) {
    part_.data.range_domains.name.push_back(range);
    part_.data.range_domains.domain.push_back(domain);
  }
}

void CuptiTrace::ForgetLoneProcess() {
  Tracks& tracks = part_.data.tracks;
  std::set<int64_t> processes;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice) {
      processes.insert(tracks.process[track]);
    }
  }
  if (processes.size() == 1) {
    std::fill(tracks.process.begin(), tracks.process.end(), kMissing);
  }
}

}  // namespace borescope::internal
