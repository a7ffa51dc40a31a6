#include "borescope/analysis/verbs/critical_path/what_if.h"

#include <algorithm>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// Whether the time is that of a host event or of device work.
bool IsOfEvent(const PathStep& step) {
  return step.bound_by != BoundBy::kWait && step.bound_by != BoundBy::kBeforeRecording &&
         step.event != kNoEvent &&
         (step.side == NodeSide::kHost ||
          (step.side == NodeSide::kDevice && step.kind == PathKind::kOperator));
}

StringId NameIdOf(const Trace& trace, NodeSide side, uint32_t event) {
  return side == NodeSide::kHost ? trace.host().name[event] : trace.device().name[event];
}

// The number of a name on a side among some, or kNone.
class NameNumbers {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit NameNumbers(const Trace& trace)
      : numbers_{std::vector<uint32_t>(trace.strings().size(), kNone),
                 std::vector<uint32_t>(trace.strings().size(), kNone)} {}

  uint32_t& Of(NodeSide side, StringId name) {
    return numbers_[side == NodeSide::kHost ? 0 : 1][name.value];
  }

 private:
  std::array<std::vector<uint32_t>, 2> numbers_;
};

// Events of both sides that were met before.
class EventsSeen {
 public:
  explicit EventsSeen(const Trace& trace)
      : seen_{std::vector<char>(trace.host().size()), std::vector<char>(trace.device().size())} {}

  bool IsNew(NodeSide side, uint32_t event) {
    return std::exchange(seen_[side == NodeSide::kHost ? 0 : 1][event], 1) == 0;
  }

 private:
  std::array<std::vector<char>, 2> seen_;
};

}  // namespace

std::vector<PathOp> SumPath(const RankView& view, const ColumnData<PathStep>& steps) {
  NameNumbers numbers(view.trace);
  std::vector<PathOp> ops;
  EventsSeen seen(view.trace);
  for (const PathStep& step : steps) {
    if (!IsOfEvent(step)) {
      continue;
    }
    const StringId name = NameIdOf(view.trace, step.side, step.event);
    uint32_t& number = numbers.Of(step.side, name);
    if (number == NameNumbers::kNone) {
      number = static_cast<uint32_t>(ops.size());
      ops.push_back({name, step.side, 0, 0});
    }
    ops[number].path_ns += step.end_ns - step.begin_ns;
    ops[number].calls += seen.IsNew(step.side, step.event) ? 1 : 0;
  }
  std::sort(ops.begin(), ops.end(), [&](const PathOp& a, const PathOp& b) {
    return std::tuple(-a.path_ns, a.side, view.trace.Text(a.name)) <
           std::tuple(-b.path_ns, b.side, view.trace.Text(b.name));
  });
  return ops;
}

PathRest SumRest(const ColumnData<PathStep>& steps) {
  PathRest rest{};
  for (const PathStep& step : steps) {
    if (!IsOfEvent(step)) {
      rest[static_cast<size_t>(step.bound_by)] += step.end_ns - step.begin_ns;
    }
  }
  return rest;
}

namespace {

// Time of an edge that belongs to one name.
struct Part {
  EdgeId edge;
  int64_t ns;
};
using Parts = std::vector<std::vector<Part>>;  // by number of the name

class PartFinder {
 public:
  PartFinder(const RankView& view, const RecordingGraph& recording, NameNumbers& numbers,
             const IntervalSet& windows, Parts& parts)
      : view_(view),
        recording_(recording),
        graph_(recording.graph),
        numbers_(numbers),
        windows_(windows),
        parts_(parts) {}

  void OfDevice() {
    const DeviceEvents& device = view_.trace.device();
    for (uint32_t row = 0; row < device.size(); ++row) {
      CheckStopAt(row);
      const NodeId start = recording_.start_of_work[row];
      if (start == kNoNode) {
        continue;
      }
      const uint32_t number = numbers_.Of(NodeSide::kDevice, device.name[row]);
      if (number != NameNumbers::kNone) {
        // The only edge out of its start.
        Add(number, graph_.first_edge[start], {graph_.ts_ns[start], graph_.ts_ns[start + 1]});
      }
    }
  }

  void OfThread(size_t thread) {
    NodeId node = recording_.first_node[thread];
    SweepThread(
        view_.trace, recording_.facts, recording_.facts.threads[thread],
        [&](const ThreadPiece& piece) {
          // Pieces end at every node, so that each lies between two of them.
          while (node + 1 < recording_.end_node[thread] &&
                 graph_.ts_ns[node + 1] <= piece.begin_ns) {
            ++node;
          }
          if (!piece.is_running || !piece.innermost.valid()) {
            return;
          }
          const uint32_t number =
              numbers_.Of(NodeSide::kHost, view_.trace.host().name[piece.innermost.value]);
          if (number != NameNumbers::kNone) {
            Add(number, ThreadEdge(graph_, node), {piece.begin_ns, piece.end_ns});
          }
        },
        [](HostId, bool, int64_t) {});
  }

 private:
  void Add(uint32_t number, EdgeId edge, Interval time) {
    auto window = std::partition_point(windows_.begin(), windows_.end(),
                                       [&](const Interval& w) { return w.end <= time.begin; });
    int64_t ns = 0;
    for (; window != windows_.end() && window->begin < time.end; ++window) {
      ns += std::min(window->end, time.end) - std::max(window->begin, time.begin);
    }
    if (ns > 0 && edge != kNoEdge) {
      parts_[number].push_back({edge, ns});
    }
  }

  const RankView& view_;
  const RecordingGraph& recording_;
  const EventGraph& graph_;
  NameNumbers& numbers_;
  const IntervalSet& windows_;
  Parts& parts_;
};

}  // namespace

std::vector<WhatIf> AskWhatIf(const RankView& view, const RecordingGraph& recording,
                              const TopologicalOrder& order, const std::vector<PathOp>& ops,
                              size_t count, const IntervalSet& windows) {
  count = std::min(count, ops.size());
  NameNumbers numbers(view.trace);
  for (uint32_t i = 0; i < count; ++i) {
    CheckStopAt(i);
    numbers.Of(ops[i].side, ops[i].name) = i;
  }
  Parts parts(count);
  PartFinder finder(view, recording, numbers, windows, parts);
  finder.OfDevice();
  for (size_t thread = 0; thread < recording.facts.threads.size(); ++thread) {
    finder.OfThread(thread);
  }
  ColumnData<int64_t> weights = recording.graph.weight_ns;
  const int64_t all_ns = LongestLength(recording.graph, order, weights);
  std::vector<WhatIf> answers;
  for (size_t i = 0; i < count; ++i) {
    CheckStopAt(i);
    for (const Part& part : parts[i]) {
      weights[part.edge] -= part.ns;
    }
    answers.push_back({ops[i], all_ns - LongestLength(recording.graph, order, weights)});
    for (const Part& part : parts[i]) {
      weights[part.edge] += part.ns;
    }
  }
  return answers;
}

}  // namespace borescope::internal
