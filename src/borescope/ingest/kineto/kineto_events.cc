#include "borescope/ingest/kineto/kineto_events.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/json/number.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {

void AsyncRanges::Append(const AsyncRanges& more, size_t first_row) {
  edges_.reserve(edges_.size() + more.edges_.size());
  for (const Half& half : more.edges_) {
    edges_.push_back(half);
    edges_.back().host_row += half.host_row == kNoRow ? 0 : first_row;
  }
}

void AsyncRanges::Close(TraceBuilder& builder) const {
  std::vector<size_t> order(edges_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Edge& first = edges_[a].edge;
    const Edge& second = edges_[b].edge;
    return std::tie(first.key, first.ts_ns, first.byte) <
           std::tie(second.key, second.ts_ns, second.byte);
  });
  const auto count_lone = [&](const Half& half) {
    builder.diagnostics().Count(
        half.host_row == kNoRow ? Diag::kDanglingReference : Diag::kMissingDuration, half.edge.byte,
        half.edge.key);
  };
  std::vector<const Half*> open;  // all of one key
  for (const size_t i : order) {
    const Half& half = edges_[i];
    if (!open.empty() && open.back()->edge.key != half.edge.key) {
      std::for_each(open.begin(), open.end(), [&](const Half* begin) { count_lone(*begin); });
      open.clear();
    }
    if (half.host_row != kNoRow) {
      open.push_back(&half);
    } else if (open.empty()) {
      count_lone(half);
    } else {
      builder.SetHostDuration(open.back()->host_row, half.edge.ts_ns - open.back()->edge.ts_ns);
      open.pop_back();
    }
  }
  std::for_each(open.begin(), open.end(), [&](const Half* begin) { count_lone(*begin); });
}

namespace {

// Fields of any event are not counters; see docs/formats/kineto.md.
bool IsOtherField(std::string_view raw_key) {
  std::string scratch;
  StringRepairs repairs;
  const std::string_view key = DecodeString(raw_key, scratch, repairs);
  std::array<char, 64> padded{};  // FindArgsField reads eight bytes from the key's start
  if (key.size() > padded.size() - 8) {
    return false;
  }
  std::copy(key.begin(), key.end(), padded.begin());
  return FindArgsField({padded.data(), key.size()}) != Field::kCount;
}

void ReadMetrics(const RawEvent& event, EventValues& values, TracePart& part) {
  Metrics& metrics = part.data.metrics;
  JsonCursor args(event.Get(Field::kArgs));
  if (!args.EnterObject()) {
    return;
  }
  std::string_view key;
  while (args.NextMember(key)) {
    const std::string_view text = args.Value();
    if (IsOtherField(key)) {
      continue;
    }
    const std::optional<double> value = values.Number(event, key, text);
    if (value.has_value()) {
      metrics.name.push_back(part.Intern(values.Decoded(event, key)));
      metrics.value.push_back(*value);
    }
  }
}

// Drops metrics from row `first` on that one of the same name follows. True if there were any.
bool KeepLastOfEachName(Metrics& metrics, size_t first) {
  std::vector<size_t> rows(metrics.size() - first);
  std::iota(rows.begin(), rows.end(), first);
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    return metrics.name[a].value < metrics.name[b].value;
  });
  const auto is_repeated = [&](size_t a, size_t b) { return metrics.name[a] == metrics.name[b]; };
  if (std::adjacent_find(rows.begin(), rows.end(), is_repeated) == rows.end()) {
    return false;
  }
  std::vector<size_t> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 == rows.size() || !is_repeated(rows[i], rows[i + 1])) {
      kept.push_back(rows[i]);
    }
  }
  std::sort(kept.begin(), kept.end());
  for (size_t i = 0; i < kept.size(); ++i) {
    metrics.name[first + i] = metrics.name[kept[i]];
    metrics.value[first + i] = metrics.value[kept[i]];
  }
  metrics.name.resize(first + kept.size());
  metrics.value.resize(first + kept.size());
  return true;
}

}  // namespace

uint32_t AddProfilerRange(const RawEvent& event, EventValues& values, TracePart& part) {
  const size_t first = part.data.metrics.size();
  ReadMetrics(event, values, part);
  if (KeepLastOfEachName(part.data.metrics, first)) {
    part.data.diagnostics.Count(Diag::kDuplicateKey, event.byte);
  }
  ProfilerRanges& ranges = part.data.ranges;
  ranges.first_metric.push_back(static_cast<uint32_t>(first));
  ranges.end_metric.push_back(static_cast<uint32_t>(part.data.metrics.size()));
  return static_cast<uint32_t>(ranges.size() - 1);
}

namespace {

constexpr std::string_view kCategoryToken = "\"monitor,";
constexpr std::string_view kCategory = "monitor,";

// The monitored device: "gpu,2". The type may contain anything; the number follows the last comma.
struct Monitored {
  std::string type;
  int64_t device = kMissing;
};

Monitored ParseMonitored(std::string_view text) {
  const size_t comma = text.rfind(',');
  const ParsedNumber number =
      ParseInteger(comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1));
  return {std::string(text.substr(0, comma)),
          number.status == NumberStatus::kOk ? number.value : kMissing};
}

}  // namespace

void AddMonitorSample(const RawEvent& event, EventValues& values, TracePart& part) {
  const std::string_view token = event.Get(Field::kCategory);
  if (!token.starts_with(kCategoryToken) && !HasEscapes(token)) {
    return;
  }
  const std::string category = StringText(token);
  if (!category.starts_with(kCategory)) {
    return;
  }
  const EventTime time = values.Time(event);
  JsonCursor args(event.Get(Field::kArgs));
  std::string_view key;
  if (!time.has_ts || !args.EnterObject() || !args.NextMember(key)) {
    return;
  }
  const std::optional<double> value = values.Number(event, key, args.Value());
  if (!value.has_value()) {
    return;
  }
  Samples& samples = part.data.samples;
  const uint32_t row = AddMissingRow(samples);
  const Monitored monitored = ParseMonitored(std::string_view(category).substr(kCategory.size()));
  samples.ts_ns[row] = time.ts_ns;
  samples.end_ns[row] = time.ts_ns + time.dur_ns;
  samples.device_type[row] = part.Intern(monitored.type);
  samples.device[row] = monitored.device;
  samples.name[row] = part.Intern(values.Decoded(event, key));
  samples.value[row] = *value;
}

namespace {

// Nothing for a host event.
std::optional<DeviceKind> DeviceKindOf(EventRole role) {
  switch (role) {
    case EventRole::kKernel:
      return DeviceKind::kKernel;
    case EventRole::kMemcpy:
      return DeviceKind::kMemcpy;
    case EventRole::kMemset:
      return DeviceKind::kMemset;
    case EventRole::kSync:
      return DeviceKind::kSync;
    case EventRole::kDeviceAnnotation:
      return DeviceKind::kAnnotation;
    case EventRole::kProfilerRange:
      return DeviceKind::kRange;
    case EventRole::kDeviceOther:
      return DeviceKind::kOther;
    default:
      return std::nullopt;
  }
}

HostKind HostKindOf(EventRole role) {
  switch (role) {
    case EventRole::kOp:
      return HostKind::kOp;
    case EventRole::kAnnotation:
      return HostKind::kAnnotation;
    case EventRole::kPython:
      return HostKind::kPython;
    case EventRole::kRuntime:
      return HostKind::kRuntime;
    default:
      return HostKind::kOther;
  }
}

}  // namespace

void KinetoFacts::Merge(const KinetoFacts& other, size_t first_host_row) {
  async.Append(other.async, first_host_row);
  profiled_ns = std::max(profiled_ns, other.profiled_ns);
  for (size_t i = 0; i < timestamps.decimals.size(); ++i) {
    timestamps.decimals[i] += other.timestamps.decimals[i];
  }
  timestamps.absolute |= other.timestamps.absolute;
  rank_labels.Merge(other.rank_labels);
  saw_cuda |= other.saw_cuda;
  saw_hip |= other.saw_hip;
  saw_xpu |= other.saw_xpu;
  saw_mtia |= other.saw_mtia;
}

KinetoEvents::KinetoEvents() : values_(part_.data.diagnostics), details_(values_, part_) {}

KinetoEvents::KinetoEvents(const TracePart::RowCounts& rows) : KinetoEvents() {
  part_.Reserve(rows);
}

KinetoFacts KinetoEvents::facts() const {
  KinetoFacts facts = facts_;
  facts.timestamps = values_.timestamps();
  facts.rank_labels = values_.rank_labels();
  return facts;
}

void KinetoEvents::Add(const RawEvent& event) {
  ++part_.events;
  const char phase = PhaseOf(event.Get(Field::kPhase));
  if (event.has_duplicates()) {
    diagnostics().Count(Diag::kDuplicateKey, event.byte);
  }
  if (phase == 0) {
    diagnostics().Count(Diag::kUnknownPhase, event.byte, "an event without a one-letter \"ph\"");
    part_.CountEvent('?', CategoryOf(event), 0);
    return;
  }
  if (phase == 'X') {
    AddComplete(event);
    return;
  }
  AddInPhase(event, phase);
  part_.CountEvent(phase, CategoryOf(event), 0);
}

void KinetoEvents::AddInPhase(const RawEvent& event, char phase) {
  switch (phase) {
    case 'M':
      return AddThreadName(event);
    case 'i':
    case 'I':
      return AddInstant(event);
    case 's':
    case 'f':
      return AddFlow(event, phase == 's');
    case 'b':
      return AddAsyncBegin(event);
    case 'e':
      return AddAsyncEnd(event);
    case 'C':
      return AddMonitorSample(event, values_, part_);
    case 't':
      return;
    default:
      diagnostics().Count(Diag::kUnknownPhase, event.byte, event.Get(Field::kPhase));
  }
}

StringId KinetoEvents::CategoryOf(const RawEvent& event) {
  const uint32_t layout = event.layout();
  if (layout == RawEvent::kNoLayout) {
    return InternCategory(event);
  }
  LayoutCategory& known = layout_categories_[layout % layout_categories_.size()];
  if (known.layout != layout) {
    known = {layout, InternCategory(event)};
  }
  return known.category;
}

StringId KinetoEvents::InternCategory(const RawEvent& event) {
  const std::string_view token = event.Get(Field::kCategory);
  // Damage in escapes counts for each event, however these are divided among threads.
  const bool has_escapes = token.find('\\') != std::string_view::npos;
  if (!last_category_.valid() || has_escapes || token != last_category_token_) {
    last_category_ = details_.InternText(event, Field::kCategory);
    last_category_token_ = token;
  }
  return last_category_;
}

EventRole KinetoEvents::RoleOf(StringId category) {
  if (category.value >= roles_.size()) {
    roles_.resize(category.value + 1, EventRole::kUnknown);
  }
  EventRole& role = roles_[category.value];
  if (role == EventRole::kUnknown) {
    const std::string_view text = part_.data.strings.Get(category);
    role = RoleOfCategory(text);
    facts_.saw_xpu |= text.starts_with("xpu_");
    facts_.saw_mtia |= text.starts_with("mtia_");
  }
  return role;
}

void KinetoEvents::AddComplete(const RawEvent& event) {
  const EventTime time = values_.Time(event);
  const StringId category = CategoryOf(event);
  part_.CountEvent('X', category, time.dur_ns);
  const EventRole role = RoleOf(category);
  if (role == EventRole::kProfilerSpan) {
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
  const StringId name = details_.InternText(event, Field::kName);
  const size_t tracks = part_.data.tracks.size();
  if (const std::optional<DeviceKind> kind = DeviceKindOf(role)) {
    AddDevice(event, *kind, name, time);
  } else {
    AddHost(event, HostKindOf(role), name, time);
  }
  if (part_.data.tracks.size() != tracks) {
    values_.NoteFusedRank(event);  // ranks differ in the numbers of their processes
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
    detail = details_.AddOp(event);
  } else if (kind == HostKind::kRuntime) {
    detail = details_.AddRuntimeCall(event);
    const std::string_view text = part_.data.strings.Get(name);
    facts_.saw_hip |= text.starts_with("hip");
    facts_.saw_cuda |= text.starts_with("cu");
  } else if (kind == HostKind::kPython) {
    detail = details_.AddFrame(event);
  } else if (kind == HostKind::kOther && event.HasAny(Field::kDomain, Field::kCallArgs)) {
    detail = details_.AddOtherCall(event);
  }
  host.detail.push_back(detail);
}

// False, and counted, if the event has no id or no time.
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

// A range that may overlap others, even one of device work, is an event of the thread.
void KinetoEvents::AddAsyncBegin(const RawEvent& event) {
  const HostKind kind = HostKindOf(RoleOf(CategoryOf(event)));
  AsyncRanges::Edge edge;
  if (!AsyncEdge(event, edge)) {
    return;
  }
  const EventTime time{true, edge.ts_ns, 0};
  facts_.async.Begin(std::move(edge), part_.data.host.size());
  AddHost(event, kind, details_.InternText(event, Field::kName), time, true);
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
  // args.stream has the real stream if the row was moved to another line (Stream Sync, lanes).
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
      device.detail.push_back(details_.AddKernel(event));
      break;
    case DeviceKind::kMemcpy:
    case DeviceKind::kMemset:
      device.detail.push_back(details_.AddCopy(event));
      break;
    case DeviceKind::kSync:
      device.detail.push_back(details_.AddSync(event));
      break;
    case DeviceKind::kRange:
      device.detail.push_back(AddProfilerRange(event, values_, part_));
      break;
    case DeviceKind::kAnnotation:
    case DeviceKind::kOther:
      device.detail.push_back(kNoDetail);
  }
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
void KinetoEvents::AddFlow(const RawEvent& event, bool is_start) {
  if (!Says(event.Get(Field::kCategory), "fwdbwd")) {
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
  flows.is_start.push_back(is_start ? 1 : 0);
}

void KinetoEvents::AddThreadName(const RawEvent& event) {
  values_.NoteFusedRank(event);
  if (Says(event.Get(Field::kName), "thread_name") && event.Has(Field::kArgName)) {
    part_.thread_names.push_back({values_.ProcessNumber(event, Field::kPid),
                                  values_.ProcessNumber(event, Field::kTid),
                                  details_.InternText(event, Field::kArgName)});
  }
}

}  // namespace borescope::internal
