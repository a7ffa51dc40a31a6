// --overlay: the path in the trace itself, as arrows between its events, which are marked.
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/path_overlay.h"
#include "borescope/analysis/verbs/critical_path/graph/build_graph.h"
#include "borescope/analysis/verbs/critical_path/path.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// What an arrow is called; kThread and kWork have none: they are events.
PathKind ArrowKind(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kLaunch:
      return PathKind::kLaunchDelay;
    case EdgeKind::kStream:
      return PathKind::kKernelKernelDelay;
    case EdgeKind::kSync:
      return PathKind::kSync;
    default:
      return PathKind::kDependency;
  }
}

bool IsArrow(EdgeKind kind) {
  return kind == EdgeKind::kLaunch || kind == EdgeKind::kStream || kind == EdgeKind::kSync ||
         kind == EdgeKind::kHandover;
}

class Drawing {
 public:
  Drawing(const RankView& view, const EventGraph& graph, const Selected& selected)
      : trace_(view.trace), graph_(graph), selected_(selected) {
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
    arrows_.arrows.push_back({EndOf(from), EndOf(to),
                              static_cast<uint32_t>(ArrowKind(graph_.kind[edge])),
                              static_cast<double>(graph_.weight_ns[edge]) / kNsPerUs, is_critical});
  }

  OverlayArrows Take() { return std::move(arrows_); }

 private:
  // Inside of the event, so that viewers tie the arrow to it and not to the next one.
  OverlayArrow::End EndOf(NodeId node) const {
    const bool is_host = graph_.side[node] == NodeSide::kHost;
    const uint32_t event = graph_.event[node];
    const TrackId track = is_host ? trace_.host().track[event] : trace_.device().track[event];
    const int64_t begin_ns = is_host ? trace_.host().ts_ns[event] : trace_.device().ts_ns[event];
    const int64_t ts_ns = graph_.ts_ns[node];
    return {trace_.tracks().pid[track.value], trace_.tracks().tid[track.value],
            ts_ns > begin_ns ? ts_ns - 1 : ts_ns};
  }

  const Trace& trace_;
  const EventGraph& graph_;
  const Selected& selected_;
  OverlayArrows arrows_;
};

OverlayArrows DrawArrows(const RankView& view, const EventGraph& graph, const LongestPaths& paths,
                         const Selected& selected, bool all) {
  Drawing drawing(view, graph, selected);
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

std::vector<uint32_t> PositionsOf(const Trace& trace, const std::vector<PathStep>& steps) {
  std::vector<uint32_t> positions;
  for (const PathStep& step : steps) {
    const std::vector<uint32_t>& all =
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
  const RecordingGraph recording = BuildGraph(view, params.Text(kDataLoadParam));
  const LongestPaths paths = FindLongestPaths(recording.graph, OrderNodes(recording.graph));
  Overlay overlay;
  overlay.arrows = DrawArrows(view, recording.graph, paths, selected, options.all_edges);
  overlay.marks = MarkPath(
      PositionsOf(view.trace, PathSteps(view, recording, paths, selected.windows())), options);
  return overlay;
}

}  // namespace borescope::internal
