#include "borescope/analysis/measures/path/path.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "borescope/base/stop.h"

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
    if (first_ns != graph_.ts_ns[EventGraph::kBegin]) {  // only where hostile times tie a circle
      Add(--first_place_, {graph_.ts_ns[EventGraph::kBegin], first_ns});
    }
    AddThreads();
    return InOrder();
  }

 private:
  // A stretch of the path on a thread. `place`: where on the path, from the end.
  struct Stretch {
    NodeId from;
    uint32_t place;
    int64_t end_ns;
  };

  void Add(uint32_t place, const PathStep& step) {
    places_.push_back(place);
    steps_.push_back(step);
  }

  // The steps by place, those of one place as they were added: each place has few, and none is far
  // from the next, so that they are counted and not compared.
  ColumnData<PathStep> InOrder() const {
    ColumnData<uint32_t> next(std::numeric_limits<uint32_t>::max() - first_place_ + 1);
    for (const uint32_t place : places_) {
      ++next[place - first_place_];
    }
    std::exclusive_scan(next.begin(), next.end(), next.begin(), uint32_t{0});
    ColumnData<PathStep> sorted(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      CheckStopAt(i);
      sorted[next[places_[i] - first_place_]++] = steps_[i];
    }
    return sorted;
  }

  // Walks from the end to the begin, and gives the time of the node where it gets to. Where an edge
  // leads back, what is before it on the path ends earlier.
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
    // What was not the last to wait for explains nothing of the time.
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
  ColumnData<PathStep> steps_;   // in the order in which they were found
  ColumnData<uint32_t> places_;  // of the steps on the path, all below the largest number
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

}  // namespace borescope::internal
