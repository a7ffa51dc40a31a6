// The event graph of a recording with the longest path through it: what critical-path, its overlay
// and its saved form, and variance begin with. Of one question it is built once (SharedMeasures).
#pragma once

#include <memory>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/event_graph/build_graph.h"
#include "borescope/analysis/measures/path/path.h"

namespace borescope::internal {

struct PathGraph {
  RecordingGraph recording;
  TopologicalOrder order;  // of the nodes of its graph
  LongestPaths paths;
  ColumnData<PathStep> steps;  // of the whole path

  // The time that is selected: of steps from completion to completion, as in step_times.h. Needs no
  // more of `view` than a saved graph has.
  IntervalSet WindowsOf(const RankView& view, const Selected& selected) const;
  // Those in `windows`, with what is of before the recording as steps of its own.
  ColumnData<PathStep> StepsIn(const RankView& view, const IntervalSet& windows) const;
};

// O(rows + nodes + edges).
PathGraph FindPaths(const RankView& view, RecordingGraph recording);

// Of the whole recording, with the names of data loading that `params` give. Any thread.
// O(rows log rows).
std::shared_ptr<const PathGraph> SharedPathGraph(const RankView& view, const Params& params);

// As AnalysisSpec::dear.
MeasureId PathGraphIsDear(const Params& params);

}  // namespace borescope::internal
