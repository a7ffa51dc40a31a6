#include "borescope/ingest/kineto_events.h"

#include <algorithm>
#include <cstring>

#include "borescope/ingest/json_string.h"

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
  kDeviceOther,
  kProfilerSpan,
  kOther,
};

namespace {

// Times beyond this (73 years) are clamped, so that no difference or sum of two can overflow.
constexpr int64_t kTimeLimitNs = int64_t{1} << 61;
// "ts" beyond this many ns (2001) is Unix time, not relative to a base.
constexpr int64_t kAbsoluteNs = 1'000'000'000LL * 1'000'000'000LL;

bool IsString(std::string_view token) { return token.size() >= 2 && token[0] == '"'; }

// Canonical spacing of a JSON value: none but one blank after each comma and colon.
void Canonise(std::string_view value, std::string& out) {
  out.clear();
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

}  // namespace

void KinetoFacts::Merge(const KinetoFacts& other) {
  profiled_ns = std::max(profiled_ns, other.profiled_ns);
  for (size_t i = 0; i < ts_decimals.size(); ++i) {
    ts_decimals[i] += other.ts_decimals[i];
  }
  absolute_ts |= other.absolute_ts;
  saw_cuda |= other.saw_cuda;
  saw_hip |= other.saw_hip;
  saw_xpu |= other.saw_xpu;
  saw_mtia |= other.saw_mtia;
}

KinetoEvents::KinetoEvents() : canonical_{StringId{0}} {}

void KinetoEvents::Add(const RawEvent& event) {
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
    case 't':
    case 'C':
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
      {"cuda_profiler_range", Role::kDeviceOther},
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
  const TimeSpan span = ReadTime(event);
  CountPhase(event, 'X', span.dur_ns);
  const Role role = RoleOf(last_category_);
  if (role == Role::kProfilerSpan) {
    facts_.profiled_ns = std::max(facts_.profiled_ns, span.dur_ns);
    return;
  }
  if (!span.valid) {
    return;
  }
  if (!event.Has(Field::kName)) {
    diagnostics().Count(Diag::kMissingName, event.byte);
  }
  const StringId name = InternText(event, Field::kName);
  switch (role) {
    case Role::kOp:
      return AddHost(event, HostKind::kOp, name, span);
    case Role::kAnnotation:
      return AddHost(event, HostKind::kAnnotation, name, span);
    case Role::kPython:
      return AddHost(event, HostKind::kPython, name, span);
    case Role::kRuntime:
      return AddHost(event, HostKind::kRuntime, name, span);
    case Role::kKernel:
      return AddDevice(event, DeviceKind::kKernel, name, span);
    case Role::kMemcpy:
      return AddDevice(event, DeviceKind::kMemcpy, name, span);
    case Role::kMemset:
      return AddDevice(event, DeviceKind::kMemset, name, span);
    case Role::kSync:
      return AddDevice(event, DeviceKind::kSync, name, span);
    case Role::kDeviceAnnotation:
      return AddDevice(event, DeviceKind::kAnnotation, name, span);
    case Role::kDeviceOther:
      return AddDevice(event, DeviceKind::kOther, name, span);
    case Role::kUnknown:
    case Role::kProfilerSpan:
    case Role::kOther:
      return AddHost(event, HostKind::kOther, name, span);
  }
}

void KinetoEvents::AddHost(const RawEvent& event, HostKind kind, StringId name, TimeSpan span) {
  HostEvents& host = part_.data.host;
  host.ts_ns.push_back(span.ts_ns);
  host.dur_ns.push_back(span.dur_ns);
  host.name.push_back(name);
  host.track.push_back(part_.Track(TrackKind::kHost, ProcessNumber(event, Field::kPid),
                                   ProcessNumber(event, Field::kTid)));
  host.kind.push_back(kind);
  uint32_t detail = kNoDetail;
  if (kind == HostKind::kOp || kind == HostKind::kAnnotation) {
    detail = AddOp(event);
  } else if (kind == HostKind::kRuntime) {
    detail = AddRuntimeCall(event);
    const std::string_view text = part_.data.strings.Get(name);
    facts_.saw_hip |= text.starts_with("hip");
    facts_.saw_cuda |= text.starts_with("cu");
  }
  host.detail.push_back(detail);
}

void KinetoEvents::AddDevice(const RawEvent& event, DeviceKind kind, StringId name, TimeSpan span) {
  // XPU's scope profiler writes every kernel a second time under this name.
  if (kind == DeviceKind::kKernel && part_.data.strings.Get(name).starts_with("metrics: ")) {
    kind = DeviceKind::kOther;
  }
  // args.stream keeps the truth where the row was moved to another line (Stream Sync, lanes).
  const int64_t stream = IsDeviceWork(kind) || kind == DeviceKind::kSync
                             ? Integer(event, Field::kStream, kMissing)
                             : kMissing;
  const int64_t tid = stream >= 0 ? stream : ProcessNumber(event, Field::kTid);
  DeviceEvents& device = part_.data.device;
  device.ts_ns.push_back(span.ts_ns);
  device.dur_ns.push_back(span.dur_ns);
  device.name.push_back(name);
  device.track.push_back(part_.Track(TrackKind::kDevice, ProcessNumber(event, Field::kPid), tid));
  device.kind.push_back(kind);
  device.correlation.push_back(Integer(event, Field::kCorrelation));
  device.external_id.push_back(Integer(event, Field::kExternalId));
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
    case DeviceKind::kAnnotation:
    case DeviceKind::kOther:
      device.detail.push_back(kNoDetail);
  }
}

uint32_t KinetoEvents::AddOp(const RawEvent& event) {
  if (!event.HasAny(Field::kExternalId, Field::kInputTypes) && !event.Has(Field::kCollective)) {
    return kNoDetail;
  }
  Ops& ops = part_.data.ops;
  ops.external_id.push_back(Integer(event, Field::kExternalId));
  ops.record_function_id.push_back(Integer(event, Field::kRecordFunctionId));
  ops.sequence.push_back(Integer(event, Field::kSequence));
  ops.forward_thread.push_back(Integer(event, Field::kForwardThread));
  ops.input_dims.push_back(InternValue(event, Field::kInputDims));
  ops.input_types.push_back(InternValue(event, Field::kInputTypes));
  ops.collective.push_back(AddCollective(event));
  return LastRow(ops.size());
}

uint32_t KinetoEvents::AddRuntimeCall(const RawEvent& event) {
  RuntimeCalls& calls = part_.data.runtime_calls;
  calls.correlation.push_back(Integer(event, Field::kCorrelation));
  calls.external_id.push_back(Integer(event, Field::kExternalId));
  return LastRow(calls.size());
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
  kernels.registers.push_back(SmallInteger(event, Field::kRegisters));
  kernels.shared_bytes.push_back(SmallInteger(event, Field::kSharedBytes));
  kernels.occupancy_percent.push_back(SmallInteger(event, Field::kOccupancy));
  const std::string_view node = event.Get(Field::kGraphNodeId);
  kernels.graph_node_id.push_back(node.empty() ? kMissing : ParseUnsigned(node).value);
  kernels.collective.push_back(AddCollective(event));
  return LastRow(kernels.size());
}

uint32_t KinetoEvents::AddCopy(const RawEvent& event) {
  part_.data.copies.bytes.push_back(Integer(event, Field::kBytes));
  return LastRow(part_.data.copies.size());
}

uint32_t KinetoEvents::AddSync(const RawEvent& event) {
  Syncs& syncs = part_.data.syncs;
  syncs.stream.push_back(Integer(event, Field::kStream));
  syncs.wait_on_stream.push_back(Integer(event, Field::kWaitOnStream));
  syncs.wait_on_record_correlation.push_back(Integer(event, Field::kWaitOnRecord));
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
  rows.in_elems.push_back(Integer(event, Field::kInElems));
  rows.out_elems.push_back(Integer(event, Field::kOutElems));
  rows.group_size.push_back(Integer(event, Field::kGroupSize));
  rows.sequence.push_back(Integer(event, Field::kCollectiveSequence));
  return LastRow(rows.size());
}

void KinetoEvents::AddInstant(const RawEvent& event) {
  if (!event.Has(Field::kAllocBytes)) {
    return;
  }
  bool valid = false;
  const int64_t ts_ns = ReadTs(event, valid);
  if (!valid) {
    return;
  }
  MemoryEvents& memory = part_.data.memory;
  memory.ts_ns.push_back(ts_ns);
  memory.track.push_back(part_.Track(TrackKind::kHost, ProcessNumber(event, Field::kPid),
                                     ProcessNumber(event, Field::kTid)));
  memory.device_type.push_back(SmallInteger(event, Field::kDeviceType));
  memory.device.push_back(SmallInteger(event, Field::kDeviceId));
  memory.address.push_back(static_cast<uint64_t>(ParseUnsigned(event.Get(Field::kAddress)).value));
  memory.bytes.push_back(Integer(event, Field::kAllocBytes, 0));
  memory.total_allocated.push_back(Integer(event, Field::kTotalAllocated));
  memory.total_reserved.push_back(Integer(event, Field::kTotalReserved));
}

// Launch flows repeat the correlation and are not kept; forward-backward ones are.
void KinetoEvents::AddFlow(const RawEvent& event) {
  if (event.Get(Field::kCategory) != "\"fwdbwd\"") {
    return;
  }
  bool valid = false;
  const int64_t ts_ns = ReadTs(event, valid);
  if (!valid) {
    return;
  }
  Flows& flows = part_.data.flows;
  flows.ts_ns.push_back(ts_ns);
  flows.track.push_back(part_.Track(TrackKind::kHost, ProcessNumber(event, Field::kPid),
                                    ProcessNumber(event, Field::kTid)));
  flows.id.push_back(Integer(event, Field::kFlowId));
  flows.is_start.push_back(event.Get(Field::kPhase) == "\"s\"" ? 1 : 0);
}

void KinetoEvents::AddThreadName(const RawEvent& event) {
  if (event.Get(Field::kName) == "\"thread_name\"" && event.Has(Field::kArgName)) {
    part_.thread_names.push_back({ProcessNumber(event, Field::kPid),
                                  ProcessNumber(event, Field::kTid),
                                  InternText(event, Field::kArgName)});
  }
}

bool KinetoEvents::Usable(const ParsedNumber& number, const RawEvent& event, Field field) {
  switch (number.status) {
    case NumberStatus::kOk:
      return true;
    case NumberStatus::kOverflow:
      diagnostics().Count(Diag::kIntegerOverflow, event.byte, event.Get(field).substr(0, 40));
      return true;
    case NumberStatus::kNotFinite:
      diagnostics().Count(Diag::kNonFiniteNumber, event.byte, event.Get(Field::kName).substr(0, 80));
      return false;
    case NumberStatus::kNotNumber:
      break;
  }
  diagnostics().Count(Diag::kBadFieldType, event.byte, event.Get(field).substr(0, 40));
  return false;
}

namespace {

// Numbers also come as strings; what is between the quotes counts.
std::string_view NumberText(std::string_view token) {
  return IsString(token) ? token.substr(1, token.size() - 2) : token;
}

bool IsAbsent(std::string_view token) { return token.empty() || token == "null"; }

}  // namespace

int64_t KinetoEvents::Integer(const RawEvent& event, Field field, int64_t missing) {
  const std::string_view token = event.Get(field);
  if (IsAbsent(token)) {
    return missing;
  }
  const ParsedNumber number = ParseInteger(NumberText(token));
  return Usable(number, event, field) ? number.value : missing;
}

int32_t KinetoEvents::SmallInteger(const RawEvent& event, Field field) {
  const int64_t value = Integer(event, field, -1);
  return static_cast<int32_t>(std::clamp<int64_t>(value, -1, std::numeric_limits<int32_t>::max()));
}

int64_t KinetoEvents::ProcessNumber(const RawEvent& event, Field field) {
  const std::string_view token = event.Get(field);
  const std::string_view text = NumberText(token);
  const ParsedNumber number = ParseInteger(text);
  if (number.status == NumberStatus::kOk) {
    return number.value;
  }
  if (!IsString(token)) {
    return IsAbsent(token) || !Usable(number, event, field) ? -1 : number.value;
  }
  // "stream 7" is 7; any other text gets a negative number of its own (FNV-1a), the same in every
  // chunk and run.
  const size_t digits = text.find_last_not_of("0123456789") + 1;
  if (const ParsedNumber tail = ParseInteger(text.substr(digits)); tail.status == NumberStatus::kOk) {
    return tail.value;
  }
  uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return -2 - static_cast<int64_t>(hash);
}

void KinetoEvents::NoteTs(std::string_view token, int64_t ts_ns) {
  const size_t point = token.find('.');
  const size_t decimals = point == std::string_view::npos ? 0 : token.size() - point - 1;
  ++facts_.ts_decimals[std::min<size_t>(decimals, 3)];
  facts_.absolute_ts |= ts_ns > kAbsoluteNs;
}

int64_t KinetoEvents::ReadTs(const RawEvent& event, bool& valid) {
  const std::string_view token = event.Get(Field::kTs);
  const ParsedNumber number = ParseMicroseconds(NumberText(token));
  valid = !IsAbsent(token) && Usable(number, event, Field::kTs);
  if (!valid) {
    diagnostics().Count(Diag::kMissingTimestamp, event.byte, event.Get(Field::kName).substr(0, 80));
    return 0;
  }
  NoteTs(token, number.value);
  const int64_t clamped = std::clamp(number.value, -kTimeLimitNs, kTimeLimitNs);
  if (clamped != number.value) {
    diagnostics().Count(Diag::kIntegerOverflow, event.byte, token.substr(0, 40));
  }
  return clamped;
}

int64_t KinetoEvents::ReadDur(const RawEvent& event) {
  const std::string_view token = event.Get(Field::kDur);
  const ParsedNumber number = ParseMicroseconds(NumberText(token));
  if (IsAbsent(token) || !Usable(number, event, Field::kDur)) {
    diagnostics().Count(Diag::kMissingDuration, event.byte, event.Get(Field::kName).substr(0, 80));
    return 0;
  }
  if (number.value < 0) {
    diagnostics().Count(Diag::kNegativeDuration, event.byte, event.Get(Field::kName).substr(0, 80));
    return 0;
  }
  return std::min(number.value, kTimeLimitNs);
}

KinetoEvents::TimeSpan KinetoEvents::ReadTime(const RawEvent& event) {
  TimeSpan span;
  span.ts_ns = ReadTs(event, span.valid);
  span.dur_ns = ReadDur(event);
  return span;
}

std::string_view KinetoEvents::Text(std::string_view token, uint64_t byte) {
  if (!IsString(token)) {
    return token == "null" ? std::string_view() : token;
  }
  const std::string_view raw = token.substr(1, token.size() - 2);
  // Both parsers hand over valid UTF-8 without control characters, so only escapes are left.
  if (std::memchr(raw.data(), '\\', raw.size()) == nullptr) {
    return raw;
  }
  StringRepairs repairs;
  const std::string_view text = DecodeString(raw, scratch_, repairs);
  if (repairs.invalid_utf8) {
    diagnostics().Count(Diag::kInvalidUtf8, byte, "a lone surrogate");
  }
  if (repairs.bad_escape) {
    diagnostics().Count(Diag::kBadSyntax, byte, "a backslash that escapes nothing");
  }
  return text;
}

StringId KinetoEvents::InternText(const RawEvent& event, Field field) {
  return part_.Intern(Text(event.Get(field), event.byte));
}

StringId KinetoEvents::InternValue(const RawEvent& event, Field field) {
  const std::string_view token = event.Get(field);
  const StringId raw = values_.Intern(token);
  if (raw.value == canonical_.size()) {
    Canonise(token, scratch_);
    canonical_.push_back(part_.Intern(scratch_));
  }
  return canonical_[raw.value];
}

}  // namespace borescope
