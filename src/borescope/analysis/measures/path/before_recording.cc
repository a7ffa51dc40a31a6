#include "borescope/analysis/measures/path/before_recording.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/idle/idle_division.h"
#include "borescope/base/stop.h"
#include "borescope/index/syncs/sync_calls.h"

namespace borescope::internal {
namespace {

class Beginnings {
 public:
  Beginnings(const RankView& view, const RecordingGraph& recording)
      : trace_(view.trace),
        graph_(recording.graph),
        start_of_work_(recording.start_of_work),
        launch_of_(view.index.correlation.launch_of),
        inherited_(recording.inherited) {
    if (std::find(inherited_.begin(), inherited_.end(), 1) != inherited_.end()) {
      FindFirstWork();
      FindWaits();
    }
  }

  // The parts of a step in which a device worked on what was launched before the recording.
  IntervalSet Of(const PathStep& step) const {
    const bool is_later = step.side == NodeSide::kHost && step.begin_ns >= first_work_ns_;
    if (step.event == kNoEvent || step.begin_ns >= step.end_ns || is_later) {
      return {};
    }
    if (step.side == NodeSide::kHost && step.bound_by == BoundBy::kCpu) {
      const auto waits = waits_.find(trace_.host().track[step.event].value);
      return waits == waits_.end() ? IntervalSet{}
                                   : Clip(waits->second, {step.begin_ns, step.end_ns});
    }
    if (step.side == NodeSide::kDevice && step.bound_by == BoundBy::kLaunch &&
        IsFirstOfDevice(DeviceId{step.event})) {
      return Clip(HeldUp(DeviceId{step.event}), {step.begin_ns, step.end_ns});
    }
    return {};
  }

 private:
  int64_t StartOf(DeviceId id) const { return graph_.ts_ns[start_of_work_[id.value]]; }
  int64_t DeviceOf(DeviceId id) const {
    return trace_.tracks().pid[trace_.device().track[id.value].value];
  }

  void FindFirstWork() {
    for (uint32_t track = 0; track < trace_.tracks().size(); ++track) {
      if (inherited_[track] != 0) {
        with_inherited_.insert(trace_.tracks().pid[track]);
      }
    }
    for (uint32_t row = 0; row < start_of_work_.size(); ++row) {
      CheckStopAt(row);
      if (start_of_work_[row] == kNoNode) {
        continue;
      }
      const auto [first, is_new] = first_work_.try_emplace(DeviceOf({row}), row);
      if (!is_new && StartOf({row}) < StartOf(first->second)) {
        first->second = {row};
      }
    }
  }

  bool IsFirstOfDevice(DeviceId id) const {
    const auto first = first_work_.find(DeviceOf(id));
    return first != first_work_.end() && first->second == id &&
           with_inherited_.contains(DeviceOf(id));
  }

  // The calls of each thread that wait while no work was recorded yet.
  void FindWaits() {
    if (first_work_.empty()) {
      return;
    }
    first_work_ns_ = trace_.end_ns();
    for (const auto& [device, work] : first_work_) {
      first_work_ns_ = std::min(first_work_ns_, StartOf(work));
    }
    const HostEvents& host = trace_.host();
    std::map<uint32_t, std::vector<Interval>> calls;
    for (uint32_t row = 0; row < host.size(); ++row) {
      CheckStopAt(row);
      if (host.kind[row] == HostKind::kRuntime && host.ts_ns[row] < first_work_ns_ &&
          AlwaysBlocks(ClassifyBlockingCall(trace_.Name(HostId{row})))) {
        calls[host.track[row].value].push_back(
            {host.ts_ns[row], std::min(host.end_ns(HostId{row}), first_work_ns_)});
      }
    }
    for (auto& [track, times] : calls) {
      waits_[track] = Union(std::move(times));
    }
  }

  // From when launched work is later than usual to its start; empty: it is not later.
  IntervalSet HeldUp(DeviceId id) const {
    const HostId launch = launch_of_[id.value];
    if (!launch.valid()) {
      return {};
    }
    const LaunchTime call{trace_.host().ts_ns[launch.value], trace_.host().end_ns(launch)};
    std::vector<IdlePart> parts;
    DivideHead({call.begin_ns, StartOf(id)}, call, {true, StartOf(id)}, {}, parts);
    IntervalSet held;
    for (const IdlePart& part : parts) {
      if (part.cause == IdleCause::kBeforeRecording) {
        held.push_back(part.time);
      }
    }
    return held;
  }

  const Trace& trace_;
  const EventGraph& graph_;
  const ColumnData<NodeId>& start_of_work_;
  const ColumnData<HostId>& launch_of_;
  const std::vector<char>& inherited_;
  std::set<int64_t> with_inherited_;                             // the devices that have such work
  std::map<int64_t, DeviceId> first_work_;                       // by number of the device
  int64_t first_work_ns_ = std::numeric_limits<int64_t>::min();  // the first of these
  std::map<uint32_t, IntervalSet> waits_;                        // by track of the thread
};

// `step` in three kinds of parts: before, in and after each time of `times`.
void AddParts(const PathStep& step, const IntervalSet& times, ColumnData<PathStep>& parts) {
  const auto add = [&](int64_t begin_ns, int64_t end_ns, const PathStep& like) {
    if (begin_ns < end_ns) {
      parts.push_back(like);
      parts.back().begin_ns = begin_ns;
      parts.back().end_ns = end_ns;
    }
  };
  PathStep before = step;
  before.kind = step.side == NodeSide::kHost ? PathKind::kSync : step.kind;
  before.bound_by = BoundBy::kBeforeRecording;
  int64_t now_ns = step.begin_ns;
  for (const Interval& time : times) {
    add(now_ns, time.begin, step);
    add(time.begin, time.end, before);
    now_ns = time.end;
  }
  add(now_ns, step.end_ns, step);
}

// `divided`: by index of a step, its times that are of before the recording.
ColumnData<PathStep> Divide(const ColumnData<PathStep>& steps,
                            const std::vector<std::pair<size_t, IntervalSet>>& divided) {
  ColumnData<PathStep> result;
  result.reserve(steps.size() + 2 * divided.size());
  size_t next = 0;
  const auto copy_until = [&](size_t end) {
    result.insert(result.end(), steps.begin() + static_cast<ptrdiff_t>(next),
                  steps.begin() + static_cast<ptrdiff_t>(end));
    next = end;
  };
  for (const auto& [index, times] : divided) {
    copy_until(index);
    AddParts(steps[index], times, result);
    ++next;
  }
  copy_until(steps.size());
  return result;
}

}  // namespace

ColumnData<PathStep> SeparateBeforeRecording(const RankView& view, const RecordingGraph& recording,
                                             ColumnData<PathStep> steps) {
  const Beginnings beginnings(view, recording);
  std::vector<std::pair<size_t, IntervalSet>> divided;  // a handful
  for (size_t i = 0; i < steps.size(); ++i) {
    CheckStopAt(i);
    if (IntervalSet times = beginnings.Of(steps[i]); Coverage(times) != 0) {
      divided.emplace_back(i, std::move(times));
    }
  }
  return divided.empty() ? std::move(steps) : Divide(steps, divided);
}

}  // namespace borescope::internal
