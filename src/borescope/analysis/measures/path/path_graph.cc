#include "borescope/analysis/measures/path/path_graph.h"

#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/path/before_recording.h"
#include "borescope/analysis/measures/time/step_times.h"

namespace borescope::internal {

namespace {

// The first work of streams that begin with work from before the recording, up to the first whose
// launch was recorded.
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
