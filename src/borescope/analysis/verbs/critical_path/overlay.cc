// --overlay: the path in the trace itself, as arrows between its events, which are marked.
#include <algorithm>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/measures/path/path_overlay.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// What an arrow is called; kThread and kWork have none: they are events.
PathKind ArrowKind(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kLaunch:
      return PathKind::kLaunchDelay;
    case EdgeKind::kStream:
    case EdgeKind::kInferredWork:
      return PathKind::kKernelKernelDelay;
    case EdgeKind::kSync:
    case EdgeKind::kInferredSync:
      return PathKind::kSync;
    default:
      return PathKind::kDependency;
  }
}

bool IsArrow(EdgeKind kind) {
  return kind != EdgeKind::kWork && kind != EdgeKind::kThread && kind != EdgeKind::kEnds;
}

class Drawing {
 public:
  Drawing(const RankView& view, const RecordingGraph& recording, const Selected& selected)
      : trace_(view.trace), recording_(recording), graph_(recording.graph), selected_(selected) {
    arrows_.name = "critical_path";
    for (size_t kind = 0; kind <= static_cast<size_t>(PathKind::kSync); ++kind) {
      arrows_.types.emplace_back(PathKindName(static_cast<PathKind>(kind)));
    }
  }

  void Add(EdgeId edge, NodeId from, bool is_critical) {
    const NodeId to = graph_.target[edge];
    if (!IsArrow(graph_.kind[edge]) || !selected_.KeepsTime(graph_.ts_ns[to])) {
      return;
    }
    constexpr double kNsPerUs = 1000;
    const auto weight_ns = static_cast<double>(std::max(graph_.weight_ns[edge], int64_t{0}));
    arrows_.arrows.push_back({EndOf(from), EndOf(to),
                              static_cast<uint32_t>(ArrowKind(graph_.kind[edge])),
                              weight_ns / kNsPerUs, is_critical});
  }

  OverlayArrows Take() { return std::move(arrows_); }

 private:
  // Where the node is in the trace, whose devices have clocks of their own.
  int64_t TimeInTrace(NodeId node) const {
    if (graph_.side[node] == NodeSide::kHost) {
      return graph_.ts_ns[node];
    }
    const uint32_t row = graph_.event[node];
    return node == recording_.start_of_work[row] ? trace_.device().ts_ns[row]
                                                 : trace_.device().end_ns({row});
  }

  // Inside of the event, so that viewers tie the arrow to it and not to the next one.
  OverlayArrow::End EndOf(NodeId node) const {
    const bool is_host = graph_.side[node] == NodeSide::kHost;
    const uint32_t event = graph_.event[node];
    const TrackId track = is_host ? trace_.host().track[event] : trace_.device().track[event];
    const int64_t begin_ns = is_host ? trace_.host().ts_ns[event] : trace_.device().ts_ns[event];
    const int64_t ts_ns = TimeInTrace(node);
    return {trace_.tracks().pid[track.value], trace_.tracks().tid[track.value],
            ts_ns > begin_ns ? ts_ns - 1 : ts_ns};
  }

  const Trace& trace_;
  const RecordingGraph& recording_;
  const EventGraph& graph_;
  const Selected& selected_;
  OverlayArrows arrows_;
};

OverlayArrows DrawArrows(const RankView& view, const RecordingGraph& recording,
                         const LongestPaths& paths, const Selected& selected, bool all) {
  const EventGraph& graph = recording.graph;
  Drawing drawing(view, recording, selected);
  std::vector<char> is_critical(graph.edges());
  for (const EdgeId edge : PathEdges(paths)) {
    is_critical[edge] = 1;
  }
  for (NodeId from = 0; from < graph.nodes(); ++from) {
    CheckStopAt(from);
    for (EdgeId edge = graph.first_edge[from]; edge < graph.first_edge[from + 1]; ++edge) {
      if (all || is_critical[edge] != 0) {
        drawing.Add(edge, from, is_critical[edge] != 0);
      }
    }
  }
  return drawing.Take();
}

std::vector<uint32_t> PositionsOf(const Trace& trace, const ColumnData<PathStep>& steps) {
  std::vector<uint32_t> positions;
  for (const PathStep& step : steps) {
    const ColumnData<uint32_t>& all =
        step.side == NodeSide::kHost ? trace.host().position : trace.device().position;
    if (step.event != kNoEvent && !all.empty() && all[step.event] != kNoPosition) {
      positions.push_back(all[step.event]);
    }
  }
  return positions;
}

}  // namespace

Result<Overlay> OverlayCriticalPath(const RankView& view, const Params& params) {
  BS_ASSIGN(const PathOverlayOptions options, PathOverlayOptions::From(params));
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::shared_ptr<const PathGraph> path = SharedPathGraph(view, params);
  const RecordingGraph& recording = path->recording;
  const LongestPaths& paths = path->paths;
  Overlay overlay;
  overlay.arrows = DrawArrows(view, recording, paths, selected, options.all_edges);
  overlay.marks = MarkPath(
      PositionsOf(view.trace, ClipSteps(path->steps, path->WindowsOf(view, selected))), options);
  return overlay;
}

}  // namespace borescope::internal
