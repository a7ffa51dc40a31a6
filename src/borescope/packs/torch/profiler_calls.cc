#include "borescope/packs/torch/profiler_calls.h"

#include <algorithm>
#include <string_view>

#include "borescope/analysis/core/finish.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kNoRow = kNoDetail;

bool IsHidden(std::string_view name) {
  constexpr std::string_view kHidden[] = {
      "profiler::_record_function_enter",
      "profiler::_record_function_enter_new",
      "profiler::_record_function_exit",
      "aten::is_leaf",
      "aten::output_nr",
      "aten::_version",
  };
  return std::find(std::begin(kHidden), std::end(kHidden), name) != std::end(kHidden);
}

}  // namespace

bool IsInProfilerTree(const Trace& trace, HostId id, ProfilerEvents events) {
  switch (trace.host().kind[id.value]) {
    case HostKind::kOp:
      return events == ProfilerEvents::kOperators || !IsHidden(trace.Name(id));
    case HostKind::kAnnotation:
    case HostKind::kPython:
      return true;
    case HostKind::kRuntime:
    case HostKind::kOther:
      return events == ProfilerEvents::kAll;
  }
  return false;
}

namespace {

class Builder {
 public:
  Builder(const RankView& view, ProfilerEvents events);

  ProfilerCalls Build();

 private:
  struct Event {
    bool is_in_tree = false;
    uint32_t parent = kNoRow;
    uint32_t children = 0;
    int64_t children_ns = 0;
    int64_t self_device_ns = 0;
    int64_t total_device_ns = 0;
  };

  void Nest(uint32_t first_row, uint32_t end_row);
  void SumDeviceTime();
  void MergeChains();
  void SumTotals();

  const RankView& view_;
  const HostEvents& host_;
  ProfilerEvents which_;
  std::vector<Event> events_;  // per host row
};

Builder::Builder(const RankView& view, ProfilerEvents events)
    : view_(view), host_(view.trace.host()), which_(events), events_(host_.size()) {}

void Builder::Nest(uint32_t first_row, uint32_t end_row) {
  std::vector<uint32_t> open;
  for (uint32_t row = first_row; row < end_row; ++row) {
    CheckStopAt(row);
    if (!IsInProfilerTree(view_.trace, HostId{row}, which_)) {
      continue;
    }
    const int64_t end_ns = host_.end_ns(HostId{row});
    while (!open.empty() && (host_.ts_ns[row] >= host_.end_ns(HostId{open.back()}) ||
                             end_ns > host_.end_ns(HostId{open.back()}))) {
      open.pop_back();
    }
    events_[row].is_in_tree = true;
    if (!open.empty()) {
      Event& parent = events_[open.back()];
      events_[row].parent = open.back();
      ++parent.children;
      parent.children_ns = AddSaturating(parent.children_ns, host_.dur_ns[row]);
    }
    open.push_back(row);
  }
}

void Builder::SumDeviceTime() {
  const DeviceEvents& device = view_.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const HostId op = view_.index.correlation.op_of[row];
    // The profiler knows no captures: kernels of graphs have no operator.
    if (IsDeviceWork(device.kind[row]) && op.valid() && !host_.IsCaptured(op)) {
      int64_t& sum = events_[op.value].self_device_ns;
      sum = AddSaturating(sum, device.dur_ns[row]);
    }
  }
}

// The outer event takes what is inside of the inner one, and its device work, in place of its own.
// Outer events come first, so that one pass merges chains of any length.
void Builder::MergeChains() {
  std::vector<uint32_t> merged_into(events_.size(), kNoRow);
  for (uint32_t row = 0; row < events_.size(); ++row) {
    Event& event = events_[row];
    if (event.parent == kNoRow) {
      continue;
    }
    if (merged_into[event.parent] != kNoRow) {
      event.parent = merged_into[event.parent];
    }
    Event& parent = events_[event.parent];
    if (parent.children == 1 && host_.name[row].value == host_.name[event.parent].value) {
      parent.children = event.children;
      parent.children_ns = event.children_ns;
      parent.self_device_ns = event.self_device_ns;
      merged_into[row] = event.parent;
      event.is_in_tree = false;
    }
  }
}

void Builder::SumTotals() {
  for (auto row = static_cast<uint32_t>(events_.size()); row-- > 0;) {
    Event& event = events_[row];
    if (!event.is_in_tree) {
      continue;
    }
    event.total_device_ns = AddSaturating(event.total_device_ns, event.self_device_ns);
    if (event.parent != kNoRow) {
      int64_t& total = events_[event.parent].total_device_ns;
      total = AddSaturating(total, event.total_device_ns);
    }
  }
}

ProfilerCalls Builder::Build() {
  const Tracks& tracks = view_.trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kHost) {
      Nest(tracks.first_row[track], tracks.end_row[track]);
    }
  }
  SumDeviceTime();
  if (which_ == ProfilerEvents::kAll) {
    MergeChains();
  }
  SumTotals();
  ProfilerCalls calls;
  for (uint32_t row = 0; row < events_.size(); ++row) {
    const Event& event = events_[row];
    if (event.is_in_tree && host_.kind[row] != HostKind::kPython) {
      calls.id.push_back(HostId{row});
      calls.self_cpu_ns.push_back(AddSaturating(host_.dur_ns[row], -event.children_ns));
      calls.self_device_ns.push_back(event.self_device_ns);
      calls.total_device_ns.push_back(event.total_device_ns);
    }
  }
  return calls;
}

}  // namespace

ProfilerCalls BuildProfilerCalls(const RankView& view, ProfilerEvents events) {
  return Builder(view, events).Build();
}

}  // namespace borescope::internal
