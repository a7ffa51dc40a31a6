#include "borescope/analysis/measures/path/path_graph.h"

#include <utility>

#include "borescope/analysis/core/param_specs.h"

namespace borescope::internal {

PathGraph FindPaths(RecordingGraph recording) {
  PathGraph found{std::move(recording), {}, {}};
  found.order = OrderNodes(found.recording.graph);
  found.paths = FindLongestPaths(found.recording.graph, found.order);
  return found;
}

std::shared_ptr<const PathGraph> SharedPathGraph(const RankView& view, const Params& params) {
  return view.Shared<PathGraph>(
      [&] { return FindPaths(BuildGraph(view, params.Text(kDataLoadParam))); });
}

MeasureId PathGraphIsDear(const Params& /*params*/) { return kMeasureId<PathGraph>; }

}  // namespace borescope::internal
