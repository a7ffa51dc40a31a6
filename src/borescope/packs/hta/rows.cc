#include "borescope/packs/hta/rows.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

// HTA's rows of the device: whatever has a stream.
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

// The operator around the launch of a Triton kernel has its name and records stream 0.
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

// The regular expressions of HTA in plain words; first match wins.
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

}  // namespace borescope::internal
