#include "borescope/packs/hta/frame.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

// The double nearest to ns / 1000, as if the decimal text had been parsed: with a mantissa of 64
// bits, rounding twice makes no difference.
double Microseconds(int64_t ns) {
  const int64_t whole = ns / 1000;
  const int64_t rest = ns % 1000;
  return static_cast<double>(static_cast<long double>(whole) +
                             static_cast<long double>(rest) / 1000.0L);
}

bool AnyFraction(const ColumnData<int64_t>& times) {
  return std::any_of(times.begin(), times.end(), [](int64_t ns) { return ns % 1000 != 0; });
}

bool IsStepName(std::string_view name) {
  return name.starts_with(kStepPrefix) && name.size() > kStepPrefix.size() &&
         name[kStepPrefix.size()] >= '0' && name[kStepPrefix.size()] <= '9';
}

}  // namespace

HtaFrame::HtaFrame(const RankView& view, Steps steps)
    : view_(view),
      steps_(view.trace.strings().size(), 0),
      includes_last_(steps == Steps::kIncludeLast),
      last_us_(-std::numeric_limits<double>::infinity()) {
  FindFractions();
  FindCorrelations();
  FindSteps();
  if (filter_ && steps != Steps::kAll) {
    FindLastMoment();
    FindKeptCorrelations();
  } else {
    filter_ = false;
  }
}

void HtaFrame::FindFractions() {
  fractions_ = AnyFraction(trace().host().ts_ns) || AnyFraction(trace().host().dur_ns) ||
               AnyFraction(trace().device().ts_ns) || AnyFraction(trace().device().dur_ns);
}

HtaTimes HtaFrame::Shrunk(int64_t ts_ns, int64_t dur_ns) const {
  HtaTimes times{Microseconds(ts_ns), Microseconds(dur_ns)};
  if (fractions_) {
    const double end = std::floor(times.end_us());
    times.ts_us = std::ceil(times.ts_us);
    times.dur_us = end - times.ts_us;
  }
  return times;
}

HtaTimes HtaFrame::TimesOf(HostId id) const {
  return Shrunk(trace().host().ts_ns[id.value], trace().host().dur_ns[id.value]);
}

HtaTimes HtaFrame::TimesOf(DeviceId id) const {
  return Shrunk(trace().device().ts_ns[id.value], trace().device().dur_ns[id.value]);
}

int64_t HtaFrame::StreamOf(DeviceId id) const {
  const uint32_t detail = trace().device().detail[id.value];
  switch (trace().device().kind[id.value]) {
    case DeviceKind::kSync:
      return detail == kNoDetail ? -1 : std::max<int64_t>(-1, trace().syncs().stream[detail]);
    case DeviceKind::kAnnotation:
    case DeviceKind::kRange:
    case DeviceKind::kOther:
      return -1;
    case DeviceKind::kKernel:
      return IsWithoutStream(detail) ? -1 : trace().StreamOf(id);
    default:
      return trace().StreamOf(id);
  }
}

// Some rows of MTIA have no args.stream, and HTA takes no stream from the line of the event.
bool HtaFrame::IsWithoutStream(uint32_t kernel) const {
  return kernel != kNoDetail && trace().kernels().has_stream[kernel] == 0;
}

int64_t HtaFrame::CorrelationOf(DeviceId id) const {
  return std::max<int64_t>(-1, trace().device().correlation[id.value]);
}

int64_t HtaFrame::CorrelationOf(HostId id) const {
  const HostEvents& host = trace().host();
  if (host.kind[id.value] != HostKind::kRuntime || host.detail[id.value] == kNoDetail) {
    return -1;
  }
  return std::max<int64_t>(-1, trace().runtime_calls().correlation[host.detail[id.value]]);
}

bool HtaFrame::IsDeviceSide(DeviceId id) const {
  const std::string_view name = trace().Name(id);
  return (StreamOf(id) >= 0 && CorrelationOf(id) >= 0) || name == "Event Sync" ||
         name == "Context Sync";
}

bool HtaFrame::IsBefore(HostId a, HostId b) const {
  const HostEvents& host = trace().host();
  return host.position.empty() ? host.ts_ns[a.value] < host.ts_ns[b.value]
                               : host.position[a.value] < host.position[b.value];
}

void HtaFrame::FindCorrelations() {
  const HostEvents& host = trace().host();
  for (const uint32_t row : EachRow(host.size())) {
    const int64_t number = CorrelationOf(HostId{row});
    if (number < 0) {
      continue;
    }
    HostId& last = launches_[number];
    if (!last.valid() || !IsBefore(HostId{row}, last)) {
      last = HostId{row};
    }
  }
  for (const uint32_t row : EachRow(trace().device().size())) {
    if (IsDeviceSide(DeviceId{row})) {
      device_numbers_[CorrelationOf(DeviceId{row})] = 1;
    }
  }
}

HostId HtaFrame::LaunchOf(DeviceId id) const {
  const auto found = launches_.find(CorrelationOf(id));
  return found == launches_.end() ? HostId() : found->second;
}

int64_t HtaFrame::StepNumberOf(std::string_view name) {
  int64_t number = -1;
  name.remove_prefix(std::min(kStepPrefix.size(), name.size()));
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

void HtaFrame::FindSteps() {
  int distinct = 0;
  const auto look_at = [&](std::span<const StringId> names) {
    for (const StringId name : names) {
      if (steps_[name.value] == 0 && IsStepName(trace().Text(name))) {
        steps_[name.value] = 1;
        ++distinct;
      }
    }
  };
  look_at(std::span(trace().host().name).first(trace().host().size()));
  look_at(trace().device().name);
  filter_ = distinct >= 2;
}

// The start of the last step. If that step is to be kept, HTA means its end, but compares it with
// times from which the first time of the file was subtracted.
void HtaFrame::FindLastMoment() {
  const HostEvents& host = trace().host();
  const DeviceEvents& device = trace().device();
  double first_us = std::numeric_limits<double>::infinity();
  const auto look_at = [&](const HtaTimes& times, bool is_step) {
    first_us = std::min(first_us, times.ts_us);
    if (is_step) {
      last_us_ = std::max(last_us_, includes_last_ ? times.end_us() : times.ts_us);
    }
  };
  for (const uint32_t row : EachRow(host.size())) {
    look_at(TimesOf(HostId{row}), IsStep(host.name[row]));
  }
  for (const uint32_t row : EachRow(device.size())) {
    look_at(TimesOf(DeviceId{row}), IsStep(device.name[row]) && !IsDeviceSide(DeviceId{row}));
  }
  last_us_ += includes_last_ ? first_us : 0;
}

bool HtaFrame::StartsInTime(int64_t ts_ns) const {
  const double ts_us = Shrunk(ts_ns, 0).ts_us;
  return includes_last_ ? ts_us <= last_us_ : ts_us < last_us_;
}

HtaFrame::Steps HtaFrame::StepsOf(const Params& params) {
  return params.Flag(kIncludeLastStepParam) ? Steps::kIncludeLast : Steps::kFiltered;
}

void HtaFrame::FindKeptCorrelations() {
  const HostEvents& host = trace().host();
  const DeviceEvents& device = trace().device();
  for (const uint32_t row : EachRow(host.size())) {
    const int64_t number = CorrelationOf(HostId{row});
    if (number >= 0 && StartsInTime(host.ts_ns[row])) {
      ++kept_numbers_[number];
    }
  }
  for (const uint32_t row : EachRow(device.size())) {
    if (!IsDeviceSide(DeviceId{row}) && CorrelationOf(DeviceId{row}) >= 0 &&
        StartsInTime(device.ts_ns[row])) {
      ++kept_numbers_[CorrelationOf(DeviceId{row})];
    }
  }
}

bool HtaFrame::Keeps(HostId id) const {
  return !filter_ || StartsInTime(trace().host().ts_ns[id.value]);
}

int64_t HtaFrame::Repeats(DeviceId id) const {
  if (!filter_) {
    return 1;
  }
  if (!IsDeviceSide(id)) {
    return StartsInTime(trace().device().ts_ns[id.value]) ? 1 : 0;
  }
  const auto found = kept_numbers_.find(CorrelationOf(id));
  return found == kept_numbers_.end() ? 0 : found->second;
}

namespace {

// Collects HTA's rows of the device: whatever has a stream.
class Collector {
 public:
  explicit Collector(const HtaFrame& frame)
      : frame_(frame), triton_done_(frame.trace().host().size(), 0) {}

  std::vector<HtaRow> Collect();

 private:
  void AddDevice(DeviceId id);
  void AddTriton(DeviceId kernel);
  void Add(HtaRow row, const HtaTimes& times);

  const HtaFrame& frame_;
  std::vector<char> triton_done_;  // per host row
  std::vector<HtaRow> rows_;
};

void Collector::Add(HtaRow row, const HtaTimes& times) {
  row.ts_us = times.ts_us;
  row.dur_us = times.dur_us;
  row.type = HtaTypeOf(frame_.trace().Text(row.name));
  rows_.push_back(row);
}

void Collector::AddDevice(DeviceId id) {
  const int64_t stream = frame_.StreamOf(id);
  const int64_t times = stream == -1 ? 0 : frame_.Repeats(id);
  if (times == 0) {
    return;
  }
  HtaRow row;
  row.name = frame_.trace().device().name[id.value];
  row.times = times;
  row.stream = stream;
  row.device = id;
  Add(row, frame_.TimesOf(id));
}

// The operator around the launch of a Triton kernel has the kernel's name and records stream 0.
void Collector::AddTriton(DeviceId kernel) {
  const HostId op = frame_.view().index.correlation.op_of[kernel.value];
  const HostEvents& host = frame_.trace().host();
  if (!op.valid() || host.IsCaptured(op) ||
      host.name[op.value] != frame_.trace().device().name[kernel.value] ||
      triton_done_[op.value] != 0) {
    return;
  }
  triton_done_[op.value] = 1;
  if (frame_.Keeps(op)) {
    HtaRow row;
    row.name = host.name[op.value];
    row.stream = 0;
    row.op = op;
    Add(row, frame_.TimesOf(op));
  }
}

std::vector<HtaRow> Collector::Collect() {
  for (uint32_t row = 0; row < frame_.trace().device().size(); ++row) {
    AddDevice(DeviceId{row});
    AddTriton(DeviceId{row});
  }
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const HtaRow& a, const HtaRow& b) { return a.ts_us < b.ts_us; });
  return std::move(rows_);
}

bool StartsWithAny(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

bool ContainsAny(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [name](std::string_view word) { return Contains(name, word); });
}

}  // namespace

std::string_view HtaTypeName(HtaType type) {
  constexpr std::string_view kNames[] = {"COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER"};
  return kNames[static_cast<size_t>(type)];
}

bool HtaIsMemoryName(std::string_view name) {
  return StartsWithAny(name, {"Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma"});
}

// HTA's regular expressions as plain comparisons; the first match wins.
HtaType HtaTypeOf(std::string_view name) {
  if (StartsWithAny(name, {"nccl", "hip", "hccl"}) || ContainsAny(name, {"ncclKernel"})) {
    return HtaType::kCommunication;
  }
  if (HtaIsMemoryName(name)) {
    return HtaType::kMemory;
  }
  if (ContainsAny(name, {"Memcpy", "Memset", "dma", "Sync"}) ||
      StartsWithAny(name, {"Stream Wait Event", "runFunction", "job_exe", "packet", "pe_exe",
                           "cpum_exe_subgraph", "collective_subgraph_execution"}) ||
      (name.starts_with("cuda") && ContainsAny(name, {"LaunchKernel"}))) {
    return HtaType::kOther;
  }
  return HtaType::kComputation;
}

std::vector<HtaRow> HtaDeviceRows(const HtaFrame& frame) { return Collector(frame).Collect(); }
std::vector<HtaRow> HtaDeviceRows(const RankView& view, const Params& params) {
  return HtaDeviceRows(HtaFrame(view, HtaFrame::StepsOf(params)));
}

std::vector<HtaInterval> HtaMerge(const std::vector<HtaRow>& rows) {
  std::vector<HtaInterval> merged;
  double last_end = -std::numeric_limits<double>::infinity();
  for (const HtaRow& row : rows) {
    if (row.ts_us > last_end) {
      merged.push_back({row.ts_us, row.end_us()});
    }
    last_end = std::max(last_end, row.end_us());
    merged.back().end_us = std::max(merged.back().end_us, row.end_us());
  }
  return merged;
}

double HtaLength(const std::vector<HtaInterval>& merged) {
  double length = 0;
  for (const HtaInterval& interval : merged) {
    length += interval.end_us - interval.begin_us;
  }
  return length;
}

namespace {

// Events of formats without positions are numbered as the trace holds them.
uint32_t PositionOf(const ColumnData<uint32_t>& positions, size_t row, size_t before) {
  return positions.empty() ? static_cast<uint32_t>(before + row) : positions[row];
}

void SetTimes(HtaEvent& event, const HtaTimes& times) {
  event.ts_us = std::llround(times.ts_us);
  event.dur_us = std::llround(times.dur_us);
}

void SetTrack(HtaEvent& event, const Tracks& tracks, TrackId track) {
  event.pid = tracks.pid[track.value];
  event.tid = tracks.tid[track.value];
}

HtaEvent MakeHost(const HtaFrame& frame, HostId id) {
  const HostEvents& host = frame.trace().host();
  HtaEvent event;
  event.host = id;
  event.position = PositionOf(host.position, id.value, 0);
  event.name = host.name[id.value];
  event.correlation = frame.CorrelationOf(id);
  SetTimes(event, frame.TimesOf(id));
  SetTrack(event, frame.trace().tracks(), host.track[id.value]);
  return event;
}

HtaEvent MakeDevice(const HtaFrame& frame, DeviceId id) {
  const DeviceEvents& device = frame.trace().device();
  HtaEvent event;
  event.device = id;
  event.position = PositionOf(device.position, id.value, frame.trace().host().size());
  event.name = device.name[id.value];
  event.stream = frame.StreamOf(id);
  event.correlation = frame.CorrelationOf(id);
  SetTimes(event, frame.TimesOf(id));
  SetTrack(event, frame.trace().tracks(), device.track[id.value]);
  return event;
}

// The last rows with a correlation number on either side.
struct Ends {
  HtaEventRow host = kNoHtaEvent;
  HtaEventRow device = kNoHtaEvent;
};

}  // namespace

HtaEvents::HtaEvents(const HtaFrame& frame) : frame_(frame) {
  Collect();
  MarkTriton();
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const HtaEvent& a, const HtaEvent& b) { return a.position < b.position; });
  TieAndFilter();
}

void HtaEvents::Collect() {
  const HostEvents& host = trace().host();
  rows_.reserve(host.size() + trace().device().size());
  for (uint32_t row = 0; row < host.size(); ++row) {
    rows_.push_back(MakeHost(frame_, HostId{row}));
  }
  for (uint32_t row = 0; row < trace().device().size(); ++row) {
    rows_.push_back(MakeDevice(frame_, DeviceId{row}));
  }
}

// Operators of Triton kernels have a stream, which they record themselves.
void HtaEvents::MarkTriton() {
  std::vector<char> is_triton(trace().host().size(), 0);
  for (const HtaRow& row : HtaDeviceRows(frame_)) {
    if (row.op.valid()) {
      is_triton[row.op.value] = 1;
    }
  }
  for (HtaEvent& event : rows_) {
    if (event.is_host() && is_triton[event.host.value] != 0) {
      event.stream = 0;
    }
  }
}

void HtaEvents::TieAndFilter() {
  HashMap<int64_t, Ends> ends;
  for (HtaEventRow row = 0; row < rows_.size(); ++row) {
    if (rows_[row].correlation >= 0) {
      Ends& found = ends[rows_[row].correlation];
      (IsDeviceSide(row) ? found.device : found.host) = row;
    }
  }
  std::vector<HtaEventRow> new_row(rows_.size(), kNoHtaEvent);
  HtaEventRow kept = 0;
  for (HtaEventRow row = 0; row < rows_.size(); ++row) {
    const HtaEvent& event = rows_[row];
    if (event.is_host() ? frame_.Keeps(event.host) : frame_.Repeats(event.device) > 0) {
      new_row[row] = kept++;
    }
  }
  for (HtaEventRow row = 0; row < rows_.size(); ++row) {
    if (new_row[row] == kNoHtaEvent) {
      continue;
    }
    const auto found = ends.find(rows_[row].correlation);
    const bool is_device = IsDeviceSide(row);
    HtaEvent& event = rows_[new_row[row]] = rows_[row];
    if (found != ends.end()) {
      const HtaEventRow partner = is_device ? found->second.host : found->second.device;
      event.partner = partner == kNoHtaEvent ? kNoHtaEvent : new_row[partner];
    }
  }
  rows_.resize(kept);
}

bool HtaEvents::IsSync(HtaEventRow row) const {
  const DeviceId id = rows_[row].device;
  return id.valid() && trace().device().kind[id.value] == DeviceKind::kSync;
}

bool HtaEvents::IsLaunch(HtaEventRow row) const {
  return IsHtaQueueLaunch(NameOf(row)) && HasPartner(row);
}

std::vector<HtaEventRow> HtaEvents::FrameOrder() const {
  std::vector<HtaEventRow> order(rows_.size());
  for (HtaEventRow row = 0; row < order.size(); ++row) {
    order[row] = row;
  }
  if (frame_.filters_steps()) {
    std::stable_partition(order.begin(), order.end(),
                          [&](HtaEventRow row) { return IsDeviceSide(row); });
  }
  return order;
}

HtaIterations::HtaIterations(const HtaFrame& frame) : frame_(frame) {
  ListSteps();
  MakePieces();
  std::sort(kept_.begin(), kept_.end());
  kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
}

void HtaIterations::ListSteps() {
  const Trace& trace = frame_.trace();
  const auto add = [&](const HtaTimes& times, StringId name, bool is_kept) {
    const int64_t number = HtaFrame::StepNumberOf(trace.Text(name));
    windows_.push_back({times.ts_us, times.end_us(), number});
    if (is_kept) {
      kept_.push_back(number);
    }
  };
  for (const uint32_t row : EachRow(trace.host().size())) {
    if (frame_.IsStep(trace.host().name[row])) {
      add(frame_.TimesOf(HostId{row}), trace.host().name[row], frame_.Keeps(HostId{row}));
    }
  }
  std::stable_sort(windows_.begin(), windows_.end(),
                   [](const Window& a, const Window& b) { return a.begin_us < b.begin_us; });
  for (const uint32_t row : EachRow(trace.device().size())) {
    if (frame_.IsStep(trace.device().name[row])) {
      const DeviceId id{row};
      add(frame_.TimesOf(id), trace.device().name[row], frame_.Repeats(id) > 0);
    }
  }
}

// Cuts time at each begin and end of a window.
void HtaIterations::MakePieces() {
  struct Cut {
    double ts_us;
    size_t window;
    bool begins;
  };
  std::vector<Cut> cuts;
  for (size_t i = 0; i < windows_.size(); ++i) {
    if (windows_[i].begin_us < windows_[i].end_us) {
      cuts.push_back({windows_[i].begin_us, i, true});
      cuts.push_back({windows_[i].end_us, i, false});
    }
  }
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const Cut& a, const Cut& b) { return a.ts_us < b.ts_us; });
  std::set<size_t> open;
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (cuts[i].begins) {
      open.insert(cuts[i].window);
    } else {
      open.erase(cuts[i].window);
    }
    if (i + 1 == cuts.size() || cuts[i + 1].ts_us > cuts[i].ts_us) {
      pieces_.push_back({cuts[i].ts_us, open.empty() ? kNone : windows_[*open.rbegin()].number});
    }
  }
}

int64_t HtaIterations::At(double ts_us) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), ts_us,
                       [](double ts, const Piece& piece) { return ts < piece.begin_us; });
  return after == pieces_.begin() ? kNone : std::prev(after)->number;
}

int64_t HtaIterations::Of(HostId id) const { return At(frame_.TimesOf(id).ts_us); }

int64_t HtaIterations::Of(DeviceId id) const {
  const int64_t stream = frame_.StreamOf(id);
  if (stream < 0) {
    return At(frame_.TimesOf(id).ts_us);
  }
  const HostId launch = frame_.LaunchOf(id);
  return stream == 0 || !launch.valid() ? kNone : Of(launch);
}

int64_t HtaIterations::Of(const HtaRow& row) const {
  return row.device.valid() ? Of(row.device) : Of(row.op);
}

namespace {

std::string WithoutArrows(std::string_view name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("->")) {
      ++i;
    } else {
      result += name[i];
    }
  }
  return result;
}

// Removes matching brackets and what is between them.
std::string WithoutBrackets(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const char opener = c == '>' ? '<' : c == ')' ? '(' : '\0';
    const size_t begin = opener == '\0' ? std::string::npos : result.rfind(opener);
    if (opener == '\0') {
      result += c;
    } else {
      result.resize(begin == std::string::npos ? 0 : begin);
    }
  }
  return result;
}

}  // namespace

std::string HtaShortName(std::string_view name) {
  if (HtaIsMemoryName(name) || name.find_first_of("<(") == std::string_view::npos) {
    return std::string(name);
  }
  std::string result = WithoutBrackets(WithoutArrows(name));
  const size_t blank = result.find_last_of(' ');
  return blank == std::string::npos ? result : result.substr(blank + 1);
}

bool HtaIsBlockingCall(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaDeviceSynchronize",
                                         "cudaStreamSynchronize",
                                         "cudaEventQuery",
                                         "cudaEventSynchronize",
                                         "cudaMemcpy",
                                         "cudaMemcpyAsync"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool IsHtaQueueLaunch(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaLaunchKernel",
                                         "cudaLaunchKernelExC",
                                         "cuLaunchKernel",
                                         "cuLaunchKernelEx",
                                         "cudaMemcpyAsync",
                                         "cudaMemsetAsync",
                                         "runFunction - job_prep_and_submit_for_execution",
                                         "hipLaunchKernel",
                                         "hipExtModuleLaunchKernel",
                                         "hipMemcpyAsync",
                                         "hipMemsetAsync",
                                         "hipMemcpyWithStream"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace borescope::internal
