// The graph launches of a rank (CUDA and HIP), and which graph each of them ran.
//
// A launch is a call named …GraphLaunch, or one whose work carries numbers of graph nodes. Work
// with such a number whose call was not recorded is a launch, too: that of its correlation number.
// Without one nothing tells which works were launched together: they are of no graph.
//
// Graphs are those of a process. Which one it was is told by the first of these that was recorded:
// the handle of the executable graph among the arguments of the call; the numbers and names of the
// nodes that ran; the names of the works, in whatever order they began (branches of a graph run
// side by side). All works of a launch tell it, selected or not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

// What launches were told apart by.
enum class GraphBy : uint8_t { kHandle, kNodes, kKernels, kNothing };

std::string_view GraphByName(GraphBy by);

struct GraphLaunch {
  HostId call;  // invalid if it was not recorded
  uint32_t first_work = 0;
  uint32_t end_work = 0;
  uint32_t graph = 0;
};

struct Graph {
  GraphBy by = GraphBy::kNothing;
  uint64_t handle = 0;  // of kHandle
};

struct GraphLaunches {
  std::vector<GraphLaunch> launches;  // by start of the call, else of the first work
  std::vector<DeviceId> works;        // of one launch by start
  std::vector<Graph> graphs;          // in order of their first launch

  std::span<const DeviceId> WorksOf(const GraphLaunch& launch) const {
    return std::span(works).subspan(launch.first_work, launch.end_work - launch.first_work);
  }
};

// Those with selected work, and selected calls without any work. O(rows), times a logarithm.
GraphLaunches FindGraphLaunches(const RankView& view, const Selected& selected);

// The number of the graph node that a work ran, or kMissing. (0 and all bits set are none.)
int64_t GraphNodeOf(const Trace& trace, DeviceId id);

// "hipGraphLaunch", "cudaGraphLaunch_ptsz".
bool IsGraphLaunchName(std::string_view name);

// Whether there is anything to say: a launch, a capture or a work of a graph.
bool HasGraphs(const RankView& view);

// Captures of work into graphs on the host: from the call that begins one to the end of the next
// call on its thread that ends one; then the call that makes the graph executable.

// Any part may be missing: the recording began or ended in between, or the graph was not captured
// but built node by node.
struct GraphCapture {
  TrackId track;
  int64_t begin_ns = kMissing;  // start of the first of its calls
  int64_t capture_ns = kMissing;
  int64_t instantiate_ns = kMissing;  // length of that call
  // Launch calls that started no work, inside the capture on any thread of its process; of the
  // captures around it the one begun last has it. kMissing where no capture was seen from begin to
  // end.
  int64_t launches = kMissing;
  std::vector<HostId> calls = {};  // these, by start
};

// By start, those that began in the selected time. O(rows), times a logarithm.
std::vector<GraphCapture> FindGraphCaptures(const RankView& view, const Selected& selected);

// "cudaStreamBeginCapture_v10000", "hipGraphInstantiate", "cuStreamEndCapture".
bool IsCaptureName(std::string_view name);

}  // namespace borescope::internal
