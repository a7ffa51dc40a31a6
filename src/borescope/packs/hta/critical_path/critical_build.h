// The edges of the graph of HTA's critical path, in the order in which HTA adds them, because that
// decides between paths of equal length:
//
//   locks    calls that hold the lock of the CUDA runtime, one after another
//   stacks   operators and calls of a thread, nested
//   device   kernels, copies and waits
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/result.h"
#include "borescope/packs/hta/critical_path/critical_graph.h"
#include "borescope/packs/hta/frame.h"

namespace borescope::internal {

// The graph under construction, and the indices needed to build it.
struct CriticalBuild {
  // `events` must outlive it. `window` is sorted by position; `data_load` is as in
  // HasCriticalNodes.
  CriticalBuild(const HtaEvents& all, std::vector<HtaEventRow> rows, std::string_view data_load);

  bool HasNodes(HtaEventRow row) const { return start_of[row] != kNoCriticalNode; }
  bool IsLock(CriticalNodeId node) const {
    return is_lock[events[graph.nodes()[node].event].name.value] != 0;
  }

  const HtaEvents& events;
  std::vector<HtaEventRow> window;
  HtaCriticalGraph graph;
  std::vector<CriticalNodeId> start_of;  // by row of `events`; kNoCriticalNode without nodes
  std::vector<CriticalNodeId> end_of;
  std::vector<char> is_lock;  // by name: a call that holds the lock of the CUDA runtime
};

void AddLockEdges(CriticalBuild& build);
void AddStackEdges(CriticalBuild& build);
// `free_launches`: each other launch also gets an edge to its kernel, without a weight.
// kMissingData if waits for whole devices would need more edges than memory should hold.
Result<void> AddDeviceEdges(CriticalBuild& build, bool free_launches);

// The part of a rank that HTA's critical path looks at, and its nodes.

// Rows of the window by position: what the host did during some annotations, in the order of HTA's
// frame, the device work tied to it, and every wait of a stream for an event, wherever it is.
// Without an annotation, everything. kMissingData if there is no such annotation or occurrence.
Result<std::vector<HtaEventRow>> HtaCriticalWindow(const HtaEvents& events,
                                                   const Selection& selection);

// Whether HTA makes nodes for the row: operators, runtime calls, events of loading data, and device
// rows with a correlation number. `data_load` is a part of names; empty matches none.
bool HasCriticalNodes(const HtaEvents& events, HtaEventRow row, std::string_view data_load);

// Start and end of each row that has nodes, by time; at equal times in the order of the file.
std::vector<CriticalNode> CriticalNodes(const HtaEvents& events,
                                        const std::vector<HtaEventRow>& window,
                                        std::string_view data_load);

// What HTA's critical path looks up in the whole rank, not only in the window: how many launches
// wait on a stream, after which launch an event was recorded, and which launch is held up by a
// stream's wait for an event.

// Length of the stream's queue right after a launch, and right after its work began; per row,
// kMissing for all other rows.
std::vector<int64_t> QueueLengths(const HtaEvents& events);

// By correlation number of a call of cudaEventRecord: the last launch before it on the stream and
// device that a wait for the event names. There is no entry if there is no such launch, or if
// nothing waits.
HashMap<int64_t, HtaEventRow> LaunchesBeforeRecords(const HtaEvents& events);

// By call of cudaStreamWaitEvent: the next launch of its thread on its stream; kNoHtaEvent if none.
HashMap<HtaEventRow, HtaEventRow> LaunchesAfterWaits(const HtaEvents& events);

}  // namespace borescope::internal
