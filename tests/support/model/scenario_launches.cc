#include "tests/support/model/scenario_launches.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace borescope::scenario {
namespace {

// Readers take a negative duration for zero.
int64_t ReadDuration(int64_t dur_ns) { return std::max<int64_t>(0, dur_ns); }

// The operator the launch counts for: the innermost of PyTorch's own, else the innermost; or -1.
int32_t OperatorOf(const std::vector<HostEvent>& events, int32_t innermost) {
  for (int32_t op = innermost; op >= 0; op = events[static_cast<size_t>(op)].parent_op) {
    if (std::string_view(GetHostName(events[static_cast<size_t>(op)].name).text)
            .starts_with("aten::")) {
      return op;
    }
  }
  return innermost;
}

}  // namespace

std::vector<int32_t> FindLaunches(const StepBatch& batch) {
  std::unordered_map<int64_t, int32_t> by_number;
  by_number.reserve(batch.calls.size());
  for (size_t i = 0; i < batch.calls.size(); ++i) {
    const RuntimeCall& call = batch.calls[i];
    if (call.is_dropped || call.fault == Fault::kMissingField) continue;
    const auto [known, is_new] = by_number.emplace(call.correlation, static_cast<int32_t>(i));
    if (!is_new && batch.calls[static_cast<size_t>(known->second)].ts_ns <= call.ts_ns) {
      known->second = static_cast<int32_t>(i);
    }
  }
  std::vector<int32_t> launches;
  launches.reserve(batch.device.size());
  for (const DeviceEvent& event : batch.device) {
    const auto found = by_number.find(event.correlation);
    launches.push_back(found == by_number.end() ? -1 : found->second);
  }
  return launches;
}

void LaunchTruth::AddStep(const StepBatch& batch, const std::vector<int32_t>& launches) {
  for (size_t i = 0; i < batch.device.size(); ++i) {
    const DeviceEvent& event = batch.device[i];
    if (event.is_dropped || launches[i] < 0) continue;
    const RuntimeCall& call = batch.calls[static_cast<size_t>(launches[i])];
    ++sum_.rows;
    sum_.host_ns += call.dur_ns;
    sum_.device_ns += ReadDuration(event.dur_ns);
    sum_.delay_ns += std::max<int64_t>(0, event.ts_ns - (call.ts_ns + call.dur_ns));
  }
  AddDelays(batch, launches);
  for (const std::vector<HostEvent>& events : batch.host) {
    for (const HostEvent& event : events) {
      if (event.kind != HostKind::kAnnotation) continue;
      AddAnnotation("host", event.name, event.number, ReadDuration(event.dur_ns));
    }
  }
  for (const DeviceAnnotation& note : batch.annotations) {
    AddAnnotation("device", note.name, note.number, note.dur_ns);
  }
}

void LaunchTruth::AddAnnotation(const char* side, HostName name, int64_t number, int64_t dur_ns) {
  std::string text = GetHostName(name).text;
  if (number >= 0) text += std::to_string(number);
  AnnotationSum& sum = annotations_[{side, text}];
  ++sum.count;
  sum.total_ns += dur_ns;
  sum.min_ns = std::min(sum.min_ns, dur_ns);
  sum.max_ns = std::max(sum.max_ns, dur_ns);
}

void LaunchTruth::AddDelays(const StepBatch& batch, const std::vector<int32_t>& launches) {
  // One operator, or one launch outside of any: thread, operator, launch.
  using Key = std::tuple<int, int32_t, int32_t>;
  struct Group {
    int64_t launch_ns = INT64_MAX;
    std::vector<std::tuple<int64_t, int64_t, size_t>> works;  // launch, begin, event
  };
  std::map<Key, Group> groups;
  for (size_t i = 0; i < batch.device.size(); ++i) {
    if (batch.device[i].is_dropped || launches[i] < 0) continue;
    const RuntimeCall& call = batch.calls[static_cast<size_t>(launches[i])];
    const size_t thread = static_cast<size_t>(call.thread);
    const int32_t op = OperatorOf(batch.host[thread], call.op);
    Group& group = groups[{static_cast<int>(thread), op, op < 0 ? launches[i] : -1}];
    group.launch_ns = std::min(group.launch_ns, call.ts_ns);
    group.works.emplace_back(call.ts_ns, batch.device[i].ts_ns, i);
  }
  for (auto& [key, group] : groups) {
    const auto& [thread, op, launch] = key;
    std::sort(group.works.begin(), group.works.end());
    std::string kernels;
    for (const auto& [launch_ns, begin_ns, event] : group.works) {
      kernels += (kernels.empty() ? "" : " -> ") + catalog_.Get(batch.device[event].kernel).name;
    }
    const int64_t first_ns = std::get<1>(group.works.front());
    const HostEvent* caller =
        op < 0 ? nullptr : &batch.host[static_cast<size_t>(thread)][static_cast<size_t>(op)];
    DelaySum& sum =
        delays_[{caller == nullptr ? "(no operator)" : GetHostName(caller->name).text, kernels}];
    ++sum.count;
    if (caller != nullptr) sum.launch_delay_ns += group.launch_ns - caller->ts_ns;
    sum.runtime_ns += std::max<int64_t>(0, first_ns - group.launch_ns);
  }
}

}  // namespace borescope::scenario
