// The critical path of a recording: the longest path through its event graph as a sequence of
// steps, and what each step is bound by. docs/how-it-works/critical-path.md has the rules.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/base/column_data.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

enum class PathKind : uint8_t { kOperator, kLaunchDelay, kKernelKernelDelay, kDependency, kSync };
std::string_view PathKindName(PathKind kind);

enum class BoundBy : uint8_t {
  kCpu,
  kDataLoad,
  kLaunch,
  kKernelKernelDelay,
  kGpuCompute,
  kGpuCommunication,
  kGpuMemoryCopy,
  kWait,             // for something that was not recorded
  kBeforeRecording,  // a device works on work from before the recording
  kCount
};
std::string_view BoundByName(BoundBy bound_by);

inline constexpr uint32_t kNoEvent = std::numeric_limits<uint32_t>::max();

// A stretch of time on the path. The steps of a path follow each other without a gap.
struct PathStep {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint32_t event = kNoEvent;  // row of HostEvents or DeviceEvents, by side
  NodeSide side = NodeSide::kNone;
  PathKind kind = PathKind::kDependency;
  BoundBy bound_by = BoundBy::kWait;
  bool is_inferred = false;  // an inferred dependency, or the device work that it comes from
};

// The lengths of all steps, of inferred ones, and of those before the recording. Shares are
// relative to the rest, recorded_ns().
struct PathTime {
  int64_t all_ns = 0;
  int64_t inferred_ns = 0;
  int64_t before_recording_ns = 0;

  int64_t recorded_ns() const { return all_ns - before_recording_ns; }

  void Add(const PathStep& step) {
    const int64_t ns = step.end_ns - step.begin_ns;
    all_ns += ns;
    inferred_ns += step.is_inferred ? ns : 0;
    before_recording_ns += step.bound_by == BoundBy::kBeforeRecording ? ns : 0;
  }
};

// The edges of the longest path from the begin to the end of the recording, by time.
std::vector<EdgeId> PathEdges(const LongestPaths& paths);

// All steps of the path. Stretches of a thread are divided by the innermost event. Steps without
// length are kept if they are device work or lead from one thread or stream to another. The lengths
// add up to that of the recording. O(rows of the threads on the path + edges).
ColumnData<PathStep> PathSteps(const RankView& view, const RecordingGraph& recording,
                               const LongestPaths& paths);

// The parts of the steps within `windows`; their lengths add up to that of the windows.
ColumnData<PathStep> ClipSteps(const ColumnData<PathStep>& steps, const IntervalSet& windows);

// The event graph of a recording with the longest path through it, for critical-path, its overlay
// and saved form, and variance. Built once for each question (SharedMeasures).
struct PathGraph {
  RecordingGraph recording;
  TopologicalOrder order;  // of the nodes of its graph
  LongestPaths paths;
  ColumnData<PathStep> steps;  // of the whole path

  // The selected time; steps last from completion to completion, as in step_times.h. Uses only
  // those parts of `view` that a saved graph has.
  IntervalSet WindowsOf(const RankView& view, const Selected& selected) const;
  // The steps within `windows`, where time due to work from before the recording has steps of its
  // own.
  ColumnData<PathStep> StepsIn(const RankView& view, const IntervalSet& windows) const;
};

// O(rows + nodes + edges).
PathGraph FindPaths(const RankView& view, RecordingGraph recording);

// The graph of the whole recording, with the names of data loading from `params`. Any thread.
// O(rows log rows).
std::shared_ptr<const PathGraph> SharedPathGraph(const RankView& view, const Params& params);

// As AnalysisSpec::dear.
MeasureId PathGraphIsDear(const Params& params);

}  // namespace borescope::internal
