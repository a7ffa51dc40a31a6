#include "borescope/analysis/hta/rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_map>

namespace borescope {
namespace {

// The double nearest to ns / 1000, as if the decimal text had been parsed: 64 bits of mantissa are
// enough that rounding twice makes no difference.
double Microseconds(int64_t ns) {
  const int64_t whole = ns / 1000;
  const int64_t rest = ns % 1000;
  return static_cast<double>(static_cast<long double>(whole) +
                             static_cast<long double>(rest) / 1000.0L);
}

bool AnyFraction(const std::vector<int64_t>& times) {
  return std::any_of(times.begin(), times.end(), [](int64_t ns) { return ns % 1000 != 0; });
}

bool IsStepName(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() && name[kPrefix.size()] >= '0' &&
         name[kPrefix.size()] <= '9';
}

// Column `stream` of HTA's frame; -1 where the event records none.
int64_t StreamOf(const Trace& trace, DeviceId id) {
  const uint32_t detail = trace.device().detail[id.value];
  switch (trace.device().kind[id.value]) {
    case DeviceKind::kSync:
      return detail == kNoDetail ? -1 : std::max<int64_t>(-1, trace.syncs().stream[detail]);
    case DeviceKind::kAnnotation:
    case DeviceKind::kOther:
      return -1;
    default:
      return trace.StreamOf(id);
  }
}

class Loader {
 public:
  explicit Loader(const RankView& view)
      : view_(view), trace_(view.trace), steps_(trace_.strings().size(), 0) {}

  std::vector<HtaRow> Load();

 private:
  void FindFractions();
  void FindSteps();
  void FindKeptHostRows();
  HtaRow MakeRow(int64_t ts_ns, int64_t dur_ns, StringId name) const;
  bool IsDeviceSide(DeviceId id) const;
  bool StartsInTime(int64_t ts_ns) const;
  void AddDevice(DeviceId id);
  void AddTriton(DeviceId kernel);
  int64_t CorrelationOf(DeviceId id) const;

  const RankView& view_;
  const Trace& trace_;
  bool fractions_ = false;
  bool filter_ = false;
  std::vector<char> steps_;  // per name: is a step
  double last_start_us_ = -std::numeric_limits<double>::infinity();
  std::unordered_map<int64_t, int64_t> kept_;  // correlation -> kept host rows with it
  std::vector<char> triton_done_;              // per host row
  std::vector<HtaRow> rows_;
};

void Loader::FindFractions() {
  fractions_ = AnyFraction(trace_.host().ts_ns) || AnyFraction(trace_.host().dur_ns) ||
               AnyFraction(trace_.device().ts_ns) || AnyFraction(trace_.device().dur_ns);
}

HtaRow Loader::MakeRow(int64_t ts_ns, int64_t dur_ns, StringId name) const {
  HtaRow row{Microseconds(ts_ns), Microseconds(dur_ns), name, HtaType::kOther, 1};
  if (fractions_) {
    const double end = std::floor(row.ts_us + row.dur_us);
    row.ts_us = std::ceil(row.ts_us);
    row.dur_us = end - row.ts_us;
  }
  return row;
}

int64_t Loader::CorrelationOf(DeviceId id) const {
  return std::max<int64_t>(-1, trace_.device().correlation[id.value]);
}

// HTA's predicate for rows of the device; other device rows are treated like host rows.
bool Loader::IsDeviceSide(DeviceId id) const {
  const std::string_view name = trace_.Name(id);
  return (StreamOf(trace_, id) >= 0 && CorrelationOf(id) >= 0) || name == "Event Sync" ||
         name == "Context Sync";
}

void Loader::FindSteps() {
  std::vector<StringId> names = trace_.host().name;
  names.insert(names.end(), trace_.device().name.begin(), trace_.device().name.end());
  int distinct = 0;
  for (const StringId name : names) {
    if (steps_[name.value] == 0 && IsStepName(trace_.Text(name))) {
      steps_[name.value] = 1;
      ++distinct;
    }
  }
  filter_ = distinct >= 2;
}

bool Loader::StartsInTime(int64_t ts_ns) const {
  return MakeRow(ts_ns, 0, StringId{0}).ts_us < last_start_us_;
}

void Loader::FindKeptHostRows() {
  const HostEvents& host = trace_.host();
  const DeviceEvents& device = trace_.device();
  for (uint32_t row = 0; row < host.size(); ++row) {
    if (steps_[host.name[row].value] != 0) {
      last_start_us_ = std::max(last_start_us_, MakeRow(host.ts_ns[row], 0, {}).ts_us);
    }
  }
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (steps_[device.name[row].value] != 0 && !IsDeviceSide(DeviceId{row})) {
      last_start_us_ = std::max(last_start_us_, MakeRow(device.ts_ns[row], 0, {}).ts_us);
    }
  }
  for (uint32_t row = 0; row < host.size(); ++row) {
    if (host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail &&
        StartsInTime(host.ts_ns[row])) {
      ++kept_[trace_.runtime_calls().correlation[host.detail[row]]];
    }
  }
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (!IsDeviceSide(DeviceId{row}) && CorrelationOf(DeviceId{row}) >= 0 &&
        StartsInTime(device.ts_ns[row])) {
      ++kept_[CorrelationOf(DeviceId{row})];
    }
  }
}

void Loader::AddDevice(DeviceId id) {
  if (StreamOf(trace_, id) == -1) {
    return;
  }
  int64_t times = 1;
  if (filter_ && IsDeviceSide(id)) {
    const auto found = kept_.find(CorrelationOf(id));
    times = found == kept_.end() ? 0 : found->second;
  } else if (filter_) {
    times = StartsInTime(trace_.device().ts_ns[id.value]) ? 1 : 0;
  }
  if (times == 0) {
    return;
  }
  const DeviceEvents& device = trace_.device();
  rows_.push_back(MakeRow(device.ts_ns[id.value], device.dur_ns[id.value], device.name[id.value]));
  rows_.back().times = times;
}

// The operator around the launch of a Triton kernel has its name and records a stream.
void Loader::AddTriton(DeviceId kernel) {
  const HostId op = view_.index.correlation.op_of[kernel.value];
  const HostEvents& host = trace_.host();
  if (!op.valid() || host.name[op.value] != trace_.device().name[kernel.value] ||
      triton_done_[op.value] != 0) {
    return;
  }
  triton_done_[op.value] = 1;
  if (!filter_ || StartsInTime(host.ts_ns[op.value])) {
    rows_.push_back(MakeRow(host.ts_ns[op.value], host.dur_ns[op.value], host.name[op.value]));
  }
}

std::vector<HtaRow> Loader::Load() {
  FindFractions();
  FindSteps();
  if (filter_) {
    FindKeptHostRows();
  }
  triton_done_.assign(trace_.host().size(), 0);
  for (uint32_t row = 0; row < trace_.device().size(); ++row) {
    AddDevice(DeviceId{row});
    AddTriton(DeviceId{row});
  }
  for (HtaRow& row : rows_) {
    row.type = HtaTypeOf(trace_.Text(row.name));
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
  return std::any_of(words.begin(), words.end(), [name](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

}  // namespace

std::string_view HtaTypeName(HtaType type) {
  constexpr std::string_view kNames[] = {"COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER"};
  return kNames[static_cast<size_t>(type)];
}

// The regular expressions of HTA in plain words; first match wins.
HtaType HtaTypeOf(std::string_view name) {
  if (StartsWithAny(name, {"nccl", "hip", "hccl"}) || ContainsAny(name, {"ncclKernel"})) {
    return HtaType::kCommunication;
  }
  if (StartsWithAny(name, {"Memcpy", "Memset", "dma"})) {
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

std::vector<HtaRow> HtaDeviceRows(const RankView& view) { return Loader(view).Load(); }

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

}  // namespace borescope
