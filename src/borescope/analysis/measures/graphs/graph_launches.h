// The graph launches of a rank (CUDA and HIP), and which graph each of them ran.
//
// A launch is a call named …GraphLaunch, or one whose work carries numbers of graph nodes. Work
// with such a number whose call was not recorded is a launch too: all work with its correlation
// number. Without a correlation number it is unknown what was launched together, and the work
// belongs to no graph.
//
// Graphs belong to a process. A graph is identified by the first of these that was recorded: the
// handle of the executable graph among the arguments of the call; the numbers and names of the
// nodes that ran; the names of the device work, in any order (branches of a graph run
// concurrently). All work of a launch counts for this, selected or not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

// By what the graphs of launches were distinguished.
enum class GraphBy : uint8_t { kHandle, kNodes, kKernels, kNothing };

std::string_view GraphByName(GraphBy by);

struct GraphLaunch {
  HostId call;  // invalid if the call was not recorded
  uint32_t first_work = 0;
  uint32_t end_work = 0;
  uint32_t graph = 0;
};

struct Graph {
  GraphBy by = GraphBy::kNothing;
  uint64_t handle = 0;  // for kHandle
};

struct GraphLaunches {
  std::vector<GraphLaunch> launches;  // by start of the call, else of the first work
  std::vector<DeviceId> works;        // of one launch by start
  std::vector<Graph> graphs;          // in order of their first launch

  std::span<const DeviceId> WorksOf(const GraphLaunch& launch) const {
    return std::span(works).subspan(launch.first_work, launch.end_work - launch.first_work);
  }
};

// The launches with selected work, and selected calls without any work. O(rows log rows).
GraphLaunches FindGraphLaunches(const RankView& view, const Selected& selected);

// The number of the graph node that device work ran, or kMissing. (0 and all bits set mean none.)
int64_t GraphNodeOf(const Trace& trace, DeviceId id);

// "hipGraphLaunch", "cudaGraphLaunch_ptsz".
bool IsGraphLaunchName(std::string_view name);

// Whether the recording has a graph launch, a capture or work of a graph.
bool HasGraphs(const RankView& view);

// Captures of work into graphs on the host: from the call that begins a capture to the end of the
// next call on its thread that ends one, followed by the call that makes the graph executable.

// Any part may be missing: the recording began or ended in between, or the graph was not captured
// but built node by node.
struct GraphCapture {
  TrackId track;
  int64_t begin_ns = kMissing;  // start of the first of its calls
  int64_t capture_ns = kMissing;
  int64_t instantiate_ns = kMissing;  // length of that call
  // Launch calls that started no work during the capture, on any thread of its process; a call in
  // several captures counts for the one that began last. kMissing if begin or end was not recorded.
  int64_t launches = kMissing;
  std::vector<HostId> calls = {};  // these, by start
};

// The captures that began in the selected time, by start. O(rows log rows).
std::vector<GraphCapture> FindGraphCaptures(const RankView& view, const Selected& selected);

// "cudaStreamBeginCapture_v10000", "hipGraphInstantiate", "cuStreamEndCapture".
bool IsCaptureName(std::string_view name);

}  // namespace borescope::internal
