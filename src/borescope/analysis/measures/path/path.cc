#include "borescope/analysis/measures/path/path.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

std::string_view PathKindName(PathKind kind) {
  constexpr std::string_view kNames[] = {"operator", "launch_delay", "kernel_kernel_delay",
                                         "dependency", "sync"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view BoundByName(BoundBy bound_by) {
  constexpr std::string_view kNames[] = {"cpu",
                                         "data_load",
                                         "launch",
                                         "kernel_kernel_delay",
                                         "gpu_compute",
                                         "gpu_communication",
                                         "gpu_memory_copy",
                                         "wait",
                                         "before_recording"};
  return kNames[static_cast<size_t>(bound_by)];
}

std::vector<EdgeId> PathEdges(const LongestPaths& paths) {
  std::vector<EdgeId> edges;
  for (NodeId node = EventGraph::kEnd; paths.by[node] != kNoEdge; node = paths.from[node]) {
    edges.push_back(paths.by[node]);
  }
  std::reverse(edges.begin(), edges.end());
  return edges;
}

namespace {

BoundBy WorkBound(const RankView& view, DeviceId id) {
  const Activity activity =
      ActivityOf(view.trace.device().kind[id.value], view.index.ClassOf(view.trace, id));
  constexpr BoundBy kBounds[] = {BoundBy::kGpuCompute, BoundBy::kGpuCommunication,
                                 BoundBy::kGpuMemoryCopy};
  return kBounds[static_cast<size_t>(activity)];
}

bool IsOperatorOrCall(const RankView& view, HostId id) {
  return id.valid() && (view.trace.host().kind[id.value] == HostKind::kRuntime ||
                        view.index.IsOperator(view.trace, id));
}

class StepMaker {
 public:
  StepMaker(const RankView& view, const RecordingGraph& recording, const LongestPaths& paths)
      : view_(view), recording_(recording), graph_(recording.graph), paths_(paths) {}

  ColumnData<PathStep> Make() {
    const int64_t first_ns = Collect();
    if (first_ns != graph_.ts_ns[EventGraph::kBegin]) {  // only where hostile times make a cycle
      Add(--first_place_, {graph_.ts_ns[EventGraph::kBegin], first_ns});
    }
    AddThreads();
    return InOrder();
  }

 private:
  // A stretch of the path on a thread. `place`: its number on the path, from the end.
  struct Stretch {
    NodeId from;
    uint32_t place;
    int64_t end_ns;
  };

  void Add(uint32_t place, const PathStep& step) {
    places_.push_back(place);
    steps_.push_back(step);
  }

  // The steps by place, and those of one place as they were added. A counting sort, as places are
  // consecutive and have few steps each.
  ColumnData<PathStep> InOrder() const {
    ColumnData<uint32_t> next(std::numeric_limits<uint32_t>::max() - first_place_ + 1);
    for (const uint32_t place : places_) {
      ++next[place - first_place_];
    }
    std::exclusive_scan(next.begin(), next.end(), next.begin(), uint32_t{0});
    ColumnData<PathStep> sorted(steps_.size());
    for (const size_t i : EachIndex(steps_.size())) {
      sorted[next[places_[i] - first_place_]++] = steps_[i];
    }
    return sorted;
  }

  // Walks from the end to the begin, and returns the time of the node that it reaches. Where an
  // edge leads back in time, the steps before it end earlier.
  int64_t Collect() {
    NodeId node = EventGraph::kEnd;
    int64_t end_ns = graph_.ts_ns[node];
    bool was_inferred = false;
    for (; paths_.by[node] != kNoEdge; node = paths_.from[node]) {
      const EdgeId edge = paths_.by[node];
      const EdgeKind kind = graph_.kind[edge];
      const uint32_t place = --first_place_;
      CheckStopAt(place);
      const int64_t begin_ns = std::min(graph_.ts_ns[paths_.from[node]], end_ns);
      if (kind == EdgeKind::kThread) {
        stretches_.push_back({paths_.from[node], place, end_ns});
      } else if (kind != EdgeKind::kEnds || begin_ns != end_ns) {
        PathStep step = StepOf(edge, paths_.from[node], node);
        step.begin_ns = begin_ns;
        step.end_ns = end_ns;
        step.is_inferred = IsInferred(kind) || (was_inferred && kind == EdgeKind::kWork);
        Add(place, step);
      }
      was_inferred = IsInferred(kind);
      end_ns = begin_ns;
    }
    return end_ns;
  }

  PathStep StepOf(EdgeId edge, NodeId from, NodeId to) const {
    PathStep step{graph_.ts_ns[from], graph_.ts_ns[to],      graph_.event[to],
                  graph_.side[to],    PathKind::kDependency, BoundBy::kWait};
    // An edge explains the time only if its source was the last that its target waited for.
    const bool is_explained = graph_.weight_ns[edge] == step.end_ns - step.begin_ns;
    const bool to_device = step.side == NodeSide::kDevice;
    switch (graph_.kind[edge]) {
      case EdgeKind::kWork:
        step.kind = PathKind::kOperator;
        step.bound_by = WorkBound(view_, DeviceId{step.event});
        break;
      case EdgeKind::kLaunch:
        Explain(step, is_explained, PathKind::kLaunchDelay, BoundBy::kLaunch);
        break;
      case EdgeKind::kStream:
      case EdgeKind::kInferredWork:
        Explain(step, is_explained, PathKind::kKernelKernelDelay, BoundBy::kKernelKernelDelay);
        break;
      case EdgeKind::kSync:
      case EdgeKind::kInferredSync:
        step.kind = PathKind::kSync;
        Explain(step, is_explained, PathKind::kSync,
                to_device ? BoundBy::kKernelKernelDelay : BoundBy::kCpu);
        break;
      case EdgeKind::kHandover:
        Explain(step, is_explained, PathKind::kDependency, BoundBy::kCpu);
        break;
      case EdgeKind::kEnds:
        step.event = kNoEvent;
        step.side = NodeSide::kNone;
        break;
      case EdgeKind::kThread:
      case EdgeKind::kQueue:
        break;
    }
    return step;
  }

  static void Explain(PathStep& step, bool is_explained, PathKind kind, BoundBy bound_by) {
    if (is_explained) {
      step.kind = kind;
      step.bound_by = bound_by;
    }
  }

  // Fills the stretches of threads with what the threads did in them.
  void AddThreads() {
    std::sort(stretches_.begin(), stretches_.end(),
              [](const Stretch& a, const Stretch& b) { return a.from < b.from; });
    auto next = stretches_.begin();
    for (size_t thread = 0; thread < recording_.facts.threads.size(); ++thread) {
      const auto first = next;
      while (next != stretches_.end() && next->from < recording_.end_node[thread]) {
        ++next;
      }
      if (first != next) {
        AddThread(recording_.facts.threads[thread], {first, next});
      }
    }
  }

  void AddThread(ThreadFacts thread, std::span<const Stretch> stretches) {
    auto stretch = stretches.begin();
    SweepThread(
        view_.trace, recording_.facts, thread,
        [&](const ThreadPiece& piece) {
          while (stretch != stretches.end() && stretch->end_ns <= piece.begin_ns) {
            ++stretch;
          }
          for (auto at = stretch; at != stretches.end() && graph_.ts_ns[at->from] < piece.end_ns;
               ++at) {
            AddPiece(piece, *at);
          }
        },
        [](HostId, bool, int64_t) {});
  }

  void AddPiece(const ThreadPiece& piece, const Stretch& stretch) {
    PathStep step;
    step.begin_ns = std::max(piece.begin_ns, graph_.ts_ns[stretch.from]);
    step.end_ns = std::min(piece.end_ns, stretch.end_ns);
    if (step.begin_ns >= step.end_ns) {
      return;
    }
    step.side = NodeSide::kHost;
    step.event = piece.innermost.valid() ? piece.innermost.value : kNoEvent;
    if (piece.is_running) {
      step.kind =
          IsOperatorOrCall(view_, piece.innermost) ? PathKind::kOperator : PathKind::kDependency;
      step.bound_by = piece.is_loading ? BoundBy::kDataLoad : BoundBy::kCpu;
    }
    Add(stretch.place, step);
  }

  const RankView& view_;
  const RecordingGraph& recording_;
  const EventGraph& graph_;
  const LongestPaths& paths_;
  ColumnData<Stretch> stretches_;
  ColumnData<PathStep> steps_;  // in the order in which the steps were found
  ColumnData<uint32_t>
      places_;  // per step: its place on the path; all are below the largest number
  uint32_t first_place_ = std::numeric_limits<uint32_t>::max();
};

}  // namespace

ColumnData<PathStep> ClipSteps(const ColumnData<PathStep>& steps, const IntervalSet& windows) {
  ColumnData<PathStep> kept;
  kept.reserve(windows.size() == 1 ? steps.size() : 0);
  auto window = windows.begin();
  for (const PathStep& step : steps) {
    CheckStopAt(kept.size());
    while (window != windows.end() && window->end <= step.begin_ns &&
           std::next(window) != windows.end()) {
      ++window;
    }
    for (auto at = window; at != windows.end() && at->begin <= step.end_ns; ++at) {
      PathStep part = step;
      part.begin_ns = std::max(part.begin_ns, at->begin);
      part.end_ns = std::min(part.end_ns, at->end);
      const bool is_whole = part.begin_ns == step.begin_ns && part.end_ns == step.end_ns;
      if (part.begin_ns < part.end_ns || is_whole) {
        kept.push_back(part);
      }
    }
  }
  return kept;
}

ColumnData<PathStep> PathSteps(const RankView& view, const RecordingGraph& recording,
                               const LongestPaths& paths) {
  return StepMaker(view, recording, paths).Make();
}

// Finds the parts of the path in which a device worked on work from before the recording, by the
// rule of the cause before_recording of idle time (stream_gaps.h). None if no such work was
// recorded.

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

  // The parts of a step in which a device worked on work from before the recording.
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
    for (const uint32_t row : EachRow(start_of_work_.size())) {
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

  // Finds the calls of each thread that wait before the first recorded work.
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
    for (const uint32_t row : EachRow(host.size())) {
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

  // From the time at which launched work is later than usual until its start; empty if it is not
  // later.
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
  std::set<int64_t> with_inherited_;        // the devices that have work from before the recording
  std::map<int64_t, DeviceId> first_work_;  // by device number
  int64_t first_work_ns_ = std::numeric_limits<int64_t>::min();  // when the first of these starts
  std::map<uint32_t, IntervalSet> waits_;                        // by track of the thread
};

// Splits `step` into its parts before, in and after each time of `times`.
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

// `divided`: indices of steps, with their times that are due to work from before the recording.
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

// `steps` with time due to work from before the recording as steps of its own, bound by
// kBeforeRecording. That is the part of the delay between launch and first work of a device that is
// longer than usual, and calls that wait before the first recorded work of any device. The lengths
// add up as before. O(steps + rows of the host).
ColumnData<PathStep> SeparateBeforeRecording(const RankView& view, const RecordingGraph& recording,
                                             ColumnData<PathStep> steps) {
  const Beginnings beginnings(view, recording);
  std::vector<std::pair<size_t, IntervalSet>> divided;  // a handful
  for (const size_t i : EachIndex(steps.size())) {
    if (IntervalSet times = beginnings.Of(steps[i]); Coverage(times) != 0) {
      divided.emplace_back(i, std::move(times));
    }
  }
  return divided.empty() ? std::move(steps) : Divide(steps, divided);
}

// The work at the begin of streams before the first work with a recorded launch, for streams that
// begin with work from before the recording.
std::vector<DeviceId> InheritedRows(const RankView& view, const RecordingGraph& recording) {
  const Tracks& tracks = view.trace.tracks();
  const ColumnData<HostId>& launch_of = view.index.correlation.launch_of;
  std::vector<DeviceId> rows;
  for (uint32_t track = 0; track < recording.inherited.size(); ++track) {
    const uint32_t end = recording.inherited[track] == 0 ? 0 : tracks.end_row[track];
    for (uint32_t row = tracks.first_row[track]; row < end && !launch_of[row].valid(); ++row) {
      if (IsDeviceWork(view.trace.device().kind[row])) {
        rows.push_back(DeviceId{row});
      }
    }
  }
  return rows;
}

}  // namespace

IntervalSet PathGraph::WindowsOf(const RankView& view, const Selected& selected) const {
  return HasStepTimes(selected) ? SelectedTime(selected, StepTimes(view, recording.clocks,
                                                                   InheritedRows(view, recording)))
                                : selected.windows();
}

ColumnData<PathStep> PathGraph::StepsIn(const RankView& view, const IntervalSet& windows) const {
  return SeparateBeforeRecording(view, recording, ClipSteps(steps, windows));
}

PathGraph FindPaths(const RankView& view, RecordingGraph recording) {
  PathGraph found{std::move(recording), {}, {}, {}};
  found.order = OrderNodes(found.recording.graph);
  found.paths = FindLongestPaths(found.recording.graph, found.order);
  found.steps = PathSteps(view, found.recording, found.paths);
  return found;
}

std::shared_ptr<const PathGraph> SharedPathGraph(const RankView& view, const Params& params) {
  return view.Shared<PathGraph>(
      [&] { return FindPaths(view, BuildGraph(view, params.Text(kDataLoadParam))); });
}

MeasureId PathGraphIsDear(const Params& /*params*/) { return kMeasureId<PathGraph>; }

}  // namespace borescope::internal
