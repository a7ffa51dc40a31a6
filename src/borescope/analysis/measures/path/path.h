// The critical path as a sequence of steps, and its bounds. docs/how-it-works/critical-path.md.
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
#include "borescope/base/result.h"
#include "borescope/trace/overlay.h"

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
  kWait,             // for what the recording does not tell
  kBeforeRecording,  // a device works on what was launched before the recording
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
  bool is_inferred = false;  // an inferred dependency, or the work it comes from
};

// How long the steps are, and those of them that are inferred. Shares are relative to what is not
// of before the recording.
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

// The edges of the longest way from the begin to the end of the recording, by time.
std::vector<EdgeId> PathEdges(const LongestPaths& paths);

// All steps of the path. Stretches of a thread are divided by the innermost event. Steps without
// length are kept where they are device work or between threads and streams. The lengths add up to
// that of the recording. O(rows of the threads on the path + edges).
ColumnData<PathStep> PathSteps(const RankView& view, const RecordingGraph& recording,
                               const LongestPaths& paths);

// The parts of the steps in `windows`, whose lengths add up to that of the windows.
ColumnData<PathStep> ClipSteps(const ColumnData<PathStep>& steps, const IntervalSet& windows);

// The event graph of a recording with the longest path through it: what critical-path, its overlay
// and its saved form, and variance begin with. Of one question it is built once (SharedMeasures).

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

// What drawings of a critical path have in common, whoever's path it is.

// What of the trace and of the graph is shown.
struct PathOverlayOptions {
  bool all_events = false;
  bool all_edges = false;

  // kInvalidArgument for all edges between events of which only some are kept.
  static Result<PathOverlayOptions> From(const Params& params);
};

// Marks the events at `critical` (positions, in any order); of the others only annotations and
// Python frames stay, unless all do.
OverlayMarks MarkPath(std::vector<uint32_t> critical, const PathOverlayOptions& options);

}  // namespace borescope::internal
