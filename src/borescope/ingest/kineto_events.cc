#include "borescope/ingest/kineto_events.h"

#include <algorithm>
#include <cmath>

#include "borescope/ingest/kineto_ranges.h"
#include "borescope/ingest/kineto_samples.h"

namespace borescope {

enum class KinetoEvents::Role : uint8_t {
  kUnknown,  // not looked up yet
  kOp,
  kAnnotation,
  kPython,
  kRuntime,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kDeviceAnnotation,
  kProfilerRange,
  kDeviceOther,
  kProfilerSpan,
  kOther,
};

namespace {

// Canonical spacing of a JSON value: none but one blank after each comma and colon.
std::string Canonical(std::string_view value) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < value.size()) {
        out += value[++i];
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      out += c;
      in_string = c == '"';
      if (c == ',' || c == ':') {
        out += ' ';
      }
    }
  }
  return out;
}

// Up to three integers of an array token "[512, 1, 1]"; -1 where there is none.
std::array<int32_t, 3> ReadTriple(std::string_view token) {
  std::array<int32_t, 3> triple{-1, -1, -1};
  size_t i = 0;
  for (int32_t& number : triple) {
    while (i < token.size() && static_cast<unsigned>(token[i] - '0') >= 10) {
      ++i;
    }
    int64_t value = i < token.size() ? 0 : -1;
    for (; i < token.size() && static_cast<unsigned>(token[i] - '0') < 10; ++i) {
      value = std::min<int64_t>(value * 10 + (token[i] - '0'), std::numeric_limits<int32_t>::max());
    }
    number = static_cast<int32_t>(value);
  }
  return triple;
}

uint32_t LastRow(size_t size) { return static_cast<uint32_t>(size - 1); }

// A count that was written in units of `unit`; kMissing for what is no number or none that fits.
int64_t CountOf(std::string_view text, double unit) {
  constexpr double kMost = 9e18;
  const ParsedDouble number = ParseDouble(text);
  const double count = number.value * unit;
  const bool is_count = number.status == NumberStatus::kOk && count >= 0 && count < kMost;
  return is_count ? std::llround(count) : kMissing;
}

}  // namespace

void KinetoFacts::Merge(const KinetoFacts& other, size_t first_host_row) {
  async.Append(other.async, first_host_row);
  profiled_ns = std::max(profiled_ns, other.profiled_ns);
  for (size_t i = 0; i < timestamps.decimals.size(); ++i) {
    timestamps.decimals[i] += other.timestamps.decimals[i];
  }
  timestamps.absolute |= other.timestamps.absolute;
  saw_cuda |= other.saw_cuda;
  saw_hip |= other.saw_hip;
  saw_xpu |= other.saw_xpu;
  saw_mtia |= other.saw_mtia;
}

KinetoEvents::KinetoEvents() : values_(part_.data.diagnostics), canonical_{StringId{0}} {}

KinetoFacts KinetoEvents::facts() const {
  KinetoFacts facts = facts_;
  facts.timestamps = values_.timestamps();
  return facts;
}

void KinetoEvents::Add(const RawEvent& event) {
  ++part_.events;
  const std::string_view phase = event.Get(Field::kPhase);
  if (event.has_duplicates()) {
    diagnostics().Count(Diag::kDuplicateKey, event.byte);
  }
  if (phase.size() != 3 || phase[0] != '"') {
    diagnostics().Count(Diag::kUnknownPhase, event.byte, "an event without a one-letter \"ph\"");
    CountPhase(event, '?', 0);
    return;
  }
  switch (phase[1]) {
    case 'X':
      AddComplete(event);
      return;
    case 'M':
      AddThreadName(event);
      break;
    case 'i':
    case 'I':
      AddInstant(event);
      break;
    case 's':
    case 'f':
      AddFlow(event);
      break;
    case 'b':
      AddAsyncBegin(event);
      return;
    case 'e':
      AddAsyncEnd(event);
      break;
    case 'C':
      AddMonitorSample(event, values_, part_);
      break;
    case 't':
      break;
    default:
      diagnostics().Count(Diag::kUnknownPhase, event.byte, phase);
  }
  CountPhase(event, phase[1], 0);
}

void KinetoEvents::CountPhase(const RawEvent& event, char phase, int64_t dur_ns) {
  const std::string_view token = event.Get(Field::kCategory);
  if (!last_category_.valid() || token != last_category_token_) {
    last_category_ = InternText(event, Field::kCategory);
    last_category_token_ = token;
  }
  part_.CountEvent(phase, last_category_, dur_ns);
}

KinetoEvents::Role KinetoEvents::RoleOf(StringId category) {
  struct RoleRow {
    std::string_view category;
    Role role;
  };
  // Every category of kineto_format 6, capitalised ones of 2021-2022 included.
  static constexpr RoleRow kRoles[] = {
      {"cpu_op", Role::kOp},
      {"Operator", Role::kOp},
      {"hpu_op", Role::kOp},
      {"user_annotation", Role::kAnnotation},
      {"python_function", Role::kPython},
      {"cuda_runtime", Role::kRuntime},
      {"cuda_driver", Role::kRuntime},
      {"Runtime", Role::kRuntime},
      {"xpu_runtime", Role::kRuntime},
      {"xpu_driver", Role::kRuntime},
      {"mtia_runtime", Role::kRuntime},
      {"privateuse1_runtime", Role::kRuntime},
      {"privateuse1_driver", Role::kRuntime},
      {"glow_runtime", Role::kRuntime},
      {"kernel", Role::kKernel},
      {"Kernel", Role::kKernel},
      {"mtia_ccp_events", Role::kKernel},
      {"gpu_memcpy", Role::kMemcpy},
      {"Memcpy", Role::kMemcpy},
      {"gpu_memset", Role::kMemset},
      {"Memset", Role::kMemset},
      {"cuda_sync", Role::kSync},
      {"xpu_sync", Role::kSync},
      {"gpu_user_annotation", Role::kDeviceAnnotation},
      {"cuda_event", Role::kDeviceOther},
      {"cuda_profiler_range", Role::kProfilerRange},
      {"xpu_scope_profiler", Role::kDeviceOther},
      {"graph_event_node", Role::kDeviceOther},
      {"graph_host_node", Role::kDeviceOther},
      {"collective_comm", Role::kDeviceOther},
      {"Trace", Role::kProfilerSpan},
  };
  if (category.value >= roles_.size()) {
    roles_.resize(category.value + 1, Role::kUnknown);
  }
  Role& role = roles_[category.value];
  if (role == Role::kUnknown) {
    const std::string_view text = part_.data.strings.Get(category);
    const auto* row = std::find_if(std::begin(kRoles), std::end(kRoles),
                                   [&](const RoleRow& r) { return r.category == text; });
    role = row == std::end(kRoles) ? Role::kOther : row->role;
    facts_.saw_xpu |= text.starts_with("xpu_");
    facts_.saw_mtia |= text.starts_with("mtia_");
  }
  return role;
}

void KinetoEvents::AddComplete(const RawEvent& event) {
  const EventTime time = values_.Time(event);
  CountPhase(event, 'X', time.dur_ns);
  const Role role = RoleOf(last_category_);
  if (role == Role::kProfilerSpan) {
    facts_.profiled_ns = std::max(facts_.profiled_ns, time.dur_ns);
    return;
  }
  if (!time.has_ts) {
    return;
  }
  const std::string_view name_token = event.Get(Field::kName);
  if (name_token.empty() || name_token == "null") {
    diagnostics().Count(Diag::kMissingName, event.byte);
  }
  const StringId name = InternText(event, Field::kName);
  switch (role) {
    case Role::kOp:
      return AddHost(event, HostKind::kOp, name, time);
    case Role::kAnnotation:
      return AddHost(event, HostKind::kAnnotation, name, time);
    case Role::kPython:
      return AddHost(event, HostKind::kPython, name, time);
    case Role::kRuntime:
      return AddHost(event, HostKind::kRuntime, name, time);
    case Role::kKernel:
      return AddDevice(event, DeviceKind::kKernel, name, time);
    case Role::kMemcpy:
      return AddDevice(event, DeviceKind::kMemcpy, name, time);
    case Role::kMemset:
      return AddDevice(event, DeviceKind::kMemset, name, time);
    case Role::kSync:
      return AddDevice(event, DeviceKind::kSync, name, time);
    case Role::kDeviceAnnotation:
      return AddDevice(event, DeviceKind::kAnnotation, name, time);
    case Role::kProfilerRange:
      return AddDevice(event, DeviceKind::kRange, name, time);
    case Role::kDeviceOther:
      return AddDevice(event, DeviceKind::kOther, name, time);
    case Role::kUnknown:
    case Role::kProfilerSpan:
    case Role::kOther:
      return AddHost(event, HostKind::kOther, name, time);
  }
}

void KinetoEvents::AddHost(const RawEvent& event, HostKind kind, StringId name, EventTime time,
                           bool is_async) {
  HostEvents& host = part_.data.host;
  const int64_t pid = values_.ProcessNumber(event, Field::kPid);
  const int64_t tid = values_.ProcessNumber(event, Field::kTid);
  host.ts_ns.push_back(time.ts_ns);
  host.dur_ns.push_back(time.dur_ns);
  host.name.push_back(name);
  host.track.push_back(is_async ? part_.AsyncTrack(pid, tid)
                                : part_.Track(TrackKind::kHost, pid, tid));
  host.kind.push_back(kind);
  host.position.push_back(Position());
  uint32_t detail = kNoDetail;
  if (kind == HostKind::kOp || kind == HostKind::kAnnotation) {
    detail = AddOp(event);
  } else if (kind == HostKind::kRuntime) {
    detail = AddRuntimeCall(event);
    const std::string_view text = part_.data.strings.Get(name);
    facts_.saw_hip |= text.starts_with("hip");
    facts_.saw_cuda |= text.starts_with("cu");
  } else if (kind == HostKind::kOther && event.HasAny(Field::kDomain, Field::kCallArgs)) {
    detail = AddOtherCall(event);
  }
  host.detail.push_back(detail);
}

// False, counted, where nothing says which halves belong together, or when this one was.
bool KinetoEvents::AsyncEdge(const RawEvent& event, AsyncRanges::Edge& edge) {
  if (!event.Has(Field::kFlowId)) {
    diagnostics().Count(Diag::kUnknownPhase, event.byte, "an asynchronous event without \"id\"");
    return false;
  }
  edge.key = values_.Text(event, Field::kCategory);
  edge.key += ' ';
  edge.key += values_.Text(event, Field::kFlowId);
  edge.byte = event.byte;
  return values_.Timestamp(event, edge.ts_ns);
}

// A range that may lie across others, also of work of a device, is an event of the thread.
void KinetoEvents::AddAsyncBegin(const RawEvent& event) {
  CountPhase(event, 'b', 0);
  const Role role = RoleOf(last_category_);
  AsyncRanges::Edge edge;
  if (!AsyncEdge(event, edge)) {
    return;
  }
  const HostKind kind = role == Role::kOp           ? HostKind::kOp
                        : role == Role::kAnnotation ? HostKind::kAnnotation
                        : role == Role::kPython     ? HostKind::kPython
                        : role == Role::kRuntime    ? HostKind::kRuntime
                                                    : HostKind::kOther;
  const EventTime time{true, edge.ts_ns, 0};
  facts_.async.Begin(std::move(edge), part_.data.host.size());
  AddHost(event, kind, InternText(event, Field::kName), time, true);
}

void KinetoEvents::AddAsyncEnd(const RawEvent& event) {
  AsyncRanges::Edge edge;
  if (AsyncEdge(event, edge)) {
    facts_.async.End(std::move(edge));
  }
}

void KinetoEvents::AddDevice(const RawEvent& event, DeviceKind kind, StringId name,
                             EventTime time) {
  // XPU's scope profiler writes every kernel a second time under this name.
  if (kind == DeviceKind::kKernel && part_.data.strings.Get(name).starts_with("metrics: ")) {
    kind = DeviceKind::kOther;
  }
  // args.stream keeps the truth where the row was moved to another line (Stream Sync, lanes).
  const int64_t stream = IsDeviceWork(kind) || kind == DeviceKind::kSync
                             ? values_.Integer(event, Field::kStream, kMissing)
                             : kMissing;
  const int64_t tid = stream >= 0 ? stream : values_.ProcessNumber(event, Field::kTid);
  DeviceEvents& device = part_.data.device;
  device.ts_ns.push_back(time.ts_ns);
  device.dur_ns.push_back(time.dur_ns);
  device.name.push_back(name);
  device.track.push_back(part_.Track(TrackKind::kDevice, values_.ProcessNumber(event, Field::kPid),
                                     tid, values_.Integer(event, Field::kProcess)));
  device.kind.push_back(kind);
  device.position.push_back(Position());
  device.correlation.push_back(values_.Integer(event, Field::kCorrelation));
  device.external_id.push_back(values_.Integer(event, Field::kExternalId));
  switch (kind) {
    case DeviceKind::kKernel:
      device.detail.push_back(AddKernel(event));
      break;
    case DeviceKind::kMemcpy:
    case DeviceKind::kMemset:
      device.detail.push_back(AddCopy(event));
      break;
    case DeviceKind::kSync:
      device.detail.push_back(AddSync(event));
      break;
    case DeviceKind::kRange:
      device.detail.push_back(AddProfilerRange(event, values_, part_));
      break;
    case DeviceKind::kAnnotation:
    case DeviceKind::kOther:
      device.detail.push_back(kNoDetail);
  }
}

uint32_t KinetoEvents::AddOp(const RawEvent& event) {
  if (!event.HasAny(Field::kExternalId, Field::kKernelFile) && !event.Has(Field::kCollective)) {
    return kNoDetail;
  }
  Ops& ops = part_.data.ops;
  ops.external_id.push_back(values_.Integer(event, Field::kExternalId));
  ops.record_function_id.push_back(values_.Integer(event, Field::kRecordFunctionId));
  ops.sequence.push_back(values_.Integer(event, Field::kSequence));
  ops.forward_thread.push_back(values_.Integer(event, Field::kForwardThread));
  ops.input_dims.push_back(InternList(event, Field::kInputDims));
  ops.input_types.push_back(InternList(event, Field::kInputTypes));
  ops.input_strides.push_back(InternList(event, Field::kInputStrides));
  ops.concrete_inputs.push_back(InternList(event, Field::kConcreteInputs));
  ops.collective.push_back(AddCollective(event));
  ops.triton.push_back(AddTritonLaunch(event));
  return LastRow(ops.size());
}

uint32_t KinetoEvents::AddTritonLaunch(const RawEvent& event) {
  if (!event.HasAny(Field::kKernelBackend, Field::kKernelFile)) {
    return kNoDetail;
  }
  TritonLaunches& rows = part_.data.triton;
  rows.backend.push_back(InternText(event, Field::kKernelBackend));
  rows.kernel_file.push_back(InternText(event, Field::kKernelFile));
  constexpr double kBytesPerGigabyte = 1e9;
  rows.bytes.push_back(CountOf(event.Get(Field::kKernelGigabytes), kBytesPerGigabyte));
  rows.flops.push_back(CountOf(event.Get(Field::kKernelFlops), 1));
  return LastRow(rows.size());
}

uint32_t KinetoEvents::AddRuntimeCall(const RawEvent& event) {
  RuntimeCalls& calls = part_.data.runtime_calls;
  calls.correlation.push_back(values_.Integer(event, Field::kCorrelation));
  calls.external_id.push_back(values_.Integer(event, Field::kExternalId));
  calls.domain.push_back(InternOptional(event, Field::kDomain));
  calls.args.push_back(InternOptional(event, Field::kCallArgs));
  return LastRow(calls.size());
}

// Work of a profiler itself has texts but no ids.
uint32_t KinetoEvents::AddOtherCall(const RawEvent& event) {
  const uint32_t row = AddRuntimeCall(event);
  part_.data.runtime_calls.correlation[row] = kMissing;
  part_.data.runtime_calls.external_id[row] = kMissing;
  return row;
}

uint32_t KinetoEvents::AddKernel(const RawEvent& event) {
  Kernels& kernels = part_.data.kernels;
  const std::array<int32_t, 3> grid = ReadTriple(event.Get(Field::kGrid));
  const std::array<int32_t, 3> block = ReadTriple(event.Get(Field::kBlock));
  kernels.grid_x.push_back(grid[0]);
  kernels.grid_y.push_back(grid[1]);
  kernels.grid_z.push_back(grid[2]);
  kernels.block_x.push_back(block[0]);
  kernels.block_y.push_back(block[1]);
  kernels.block_z.push_back(block[2]);
  kernels.registers.push_back(values_.SmallInteger(event, Field::kRegisters));
  kernels.shared_bytes.push_back(values_.SmallInteger(event, Field::kSharedBytes));
  kernels.occupancy_percent.push_back(values_.SmallInteger(event, Field::kOccupancy));
  kernels.private_bytes.push_back(values_.SmallInteger(event, Field::kPrivateBytes));
  kernels.stream_handle.push_back(InternOptional(event, Field::kStreamHandle));
  kernels.graph_node_id.push_back(values_.Unsigned(event, Field::kGraphNodeId, kMissing));
  kernels.collective.push_back(AddCollective(event));
  return LastRow(kernels.size());
}

uint32_t KinetoEvents::AddCopy(const RawEvent& event) {
  part_.data.copies.bytes.push_back(values_.Integer(event, Field::kBytes));
  // "N/A" where the producer measured no time.
  const ParsedDouble gbps = ParseDouble(event.Get(Field::kGbps));
  part_.data.copies.gbps.push_back(gbps.status == NumberStatus::kOk ? gbps.value : -1.0);
  part_.data.copies.call.push_back(AddCopyCall(event));
  return LastRow(part_.data.copies.size());
}

uint32_t KinetoEvents::AddCopyCall(const RawEvent& event) {
  if (!event.HasAny(Field::kCopyKind, Field::kIsPinned) && !event.Has(Field::kStreamHandle)) {
    return kNoDetail;
  }
  CopyCalls& calls = part_.data.copy_calls;
  calls.kind.push_back(values_.Integer(event, Field::kCopyKind));
  calls.stream_handle.push_back(InternOptional(event, Field::kStreamHandle));
  calls.source.push_back(InternOptional(event, Field::kSource));
  calls.target.push_back(InternOptional(event, Field::kTarget));
  calls.source_device.push_back(values_.Integer(event, Field::kSourceDevice));
  calls.target_device.push_back(values_.Integer(event, Field::kTargetDevice));
  calls.width.push_back(values_.Integer(event, Field::kWidth));
  calls.height.push_back(values_.Integer(event, Field::kHeight));
  calls.is_sync.push_back(values_.Integer(event, Field::kIsSync));
  calls.is_pinned.push_back(values_.Integer(event, Field::kIsPinned));
  return LastRow(calls.size());
}

uint32_t KinetoEvents::AddSync(const RawEvent& event) {
  Syncs& syncs = part_.data.syncs;
  syncs.stream.push_back(values_.Integer(event, Field::kStream));
  syncs.wait_on_stream.push_back(values_.Integer(event, Field::kWaitOnStream));
  syncs.wait_on_record_correlation.push_back(values_.Integer(event, Field::kWaitOnRecord));
  return LastRow(syncs.size());
}

uint32_t KinetoEvents::AddCollective(const RawEvent& event) {
  if (!event.Has(Field::kCollective)) {
    return kNoDetail;
  }
  Collectives& rows = part_.data.collectives;
  rows.collective.push_back(InternText(event, Field::kCollective));
  rows.dtype.push_back(InternText(event, Field::kDtype));
  rows.group.push_back(InternText(event, Field::kGroupName));
  rows.group_desc.push_back(InternText(event, Field::kGroupDesc));
  rows.ranks.push_back(InternText(event, Field::kGroupRanks));
  rows.in_elems.push_back(values_.Integer(event, Field::kInElems));
  rows.out_elems.push_back(values_.Integer(event, Field::kOutElems));
  rows.group_size.push_back(values_.Integer(event, Field::kGroupSize));
  rows.sequence.push_back(values_.Integer(event, Field::kCollectiveSequence));
  return LastRow(rows.size());
}

void KinetoEvents::AddInstant(const RawEvent& event) {
  if (!event.Has(Field::kAllocBytes)) {
    return;
  }
  int64_t ts_ns = 0;
  if (!values_.Timestamp(event, ts_ns)) {
    return;
  }
  MemoryEvents& memory = part_.data.memory;
  memory.ts_ns.push_back(ts_ns);
  memory.track.push_back(part_.Track(TrackKind::kHost, values_.ProcessNumber(event, Field::kPid),
                                     values_.ProcessNumber(event, Field::kTid)));
  memory.device_type.push_back(values_.SmallInteger(event, Field::kDeviceType));
  memory.device.push_back(values_.SmallInteger(event, Field::kDeviceId));
  memory.address.push_back(static_cast<uint64_t>(values_.Unsigned(event, Field::kAddress, 0)));
  memory.bytes.push_back(values_.Integer(event, Field::kAllocBytes, 0));
  memory.category.push_back(MemoryCategory::kNone);
  memory.total_allocated.push_back(values_.Integer(event, Field::kTotalAllocated));
  memory.total_reserved.push_back(values_.Integer(event, Field::kTotalReserved));
}

// Launch flows repeat the correlation and are not kept; forward-backward ones are.
void KinetoEvents::AddFlow(const RawEvent& event) {
  if (event.Get(Field::kCategory) != "\"fwdbwd\"") {
    return;
  }
  int64_t ts_ns = 0;
  if (!values_.Timestamp(event, ts_ns)) {
    return;
  }
  Flows& flows = part_.data.flows;
  flows.ts_ns.push_back(ts_ns);
  flows.track.push_back(part_.Track(TrackKind::kHost, values_.ProcessNumber(event, Field::kPid),
                                    values_.ProcessNumber(event, Field::kTid)));
  flows.id.push_back(values_.Integer(event, Field::kFlowId));
  flows.is_start.push_back(event.Get(Field::kPhase) == "\"s\"" ? 1 : 0);
}

void KinetoEvents::AddThreadName(const RawEvent& event) {
  if (event.Get(Field::kName) == "\"thread_name\"" && event.Has(Field::kArgName)) {
    part_.thread_names.push_back({values_.ProcessNumber(event, Field::kPid),
                                  values_.ProcessNumber(event, Field::kTid),
                                  InternText(event, Field::kArgName)});
  }
}

StringId KinetoEvents::InternText(const RawEvent& event, Field field) {
  return part_.Intern(values_.Text(event, field));
}

StringId KinetoEvents::InternList(const RawEvent& event, Field field) {
  const std::string_view token = event.Get(field);
  const StringId raw = lists_.Intern(token);
  if (raw.value == canonical_.size()) {
    canonical_.push_back(part_.Intern(Canonical(token)));
  }
  return canonical_[raw.value];
}

}  // namespace borescope
