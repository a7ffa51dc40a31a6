#include "borescope/analysis/measures/path/path_graph.h"

#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/path/before_recording.h"

namespace borescope::internal {

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
