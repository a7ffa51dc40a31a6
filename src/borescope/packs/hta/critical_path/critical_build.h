// The graph of HTA's critical path: which edges there are. In the order in which HTA adds them,
// which decides between equally long paths:
//
//   critical_locks.cc    calls that hold the lock of the CUDA runtime, one after another
//   critical_stacks.cc   operators and calls of a thread, nested
//   critical_device.cc   kernels, copies and waits, with the events of critical_syncs.h
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

// The graph in the making, and what finds its way in it.
struct CriticalBuild {
  // `events` must outlive it. `window` by position; `data_load` as HasCriticalNodes.
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
// `free_launches`: also an edge without a weight from each other launch to its kernel. kMissingData
// where waits for whole devices would need more edges than memory should hold.
Result<void> AddDeviceEdges(CriticalBuild& build, bool free_launches);

// The part of a rank that HTA's critical path looks at, and its nodes.

// Rows of the window by position: what the host did in the time of some annotations, in the order
// of HTA's frame, and the device work tied to it; every wait of a stream for an event, wherever it
// is. Without an annotation everything. kMissingData if there is no such annotation or occurrence.
Result<std::vector<HtaEventRow>> HtaCriticalWindow(const HtaEvents& events,
                                                   const Selection& selection);

// Whether HTA makes nodes of the row: operators, runtime calls, events of loading data, and device
// rows with a correlation number. `data_load` is a part of names; empty is none.
bool HasCriticalNodes(const HtaEvents& events, HtaEventRow row, std::string_view data_load);

// Start and end of each row that has nodes, by time; of equal times in the order of the file.
std::vector<CriticalNode> CriticalNodes(const HtaEvents& events,
                                        const std::vector<HtaEventRow>& window,
                                        std::string_view data_load);

// What HTA's critical path finds out about launches and CUDA events in the whole rank, not only in
// the window: how many launches wait on a stream, which launch an event was recorded behind, and
// which one a stream's wait for an event holds up.

// Length of the queue of its stream right after a launch, and right after its work began; per row,
// kMissing for all others.
std::vector<int64_t> QueueLengths(const HtaEvents& events);

// By correlation number of a call of cudaEventRecord: the last launch before it on the stream and
// device that a wait for the event names. Without an entry there is none, or nothing waits.
HashMap<int64_t, HtaEventRow> LaunchesBeforeRecords(const HtaEvents& events);

// By call of cudaStreamWaitEvent: the next launch of its thread on its stream; kNoHtaEvent if none.
HashMap<HtaEventRow, HtaEventRow> LaunchesAfterWaits(const HtaEvents& events);

}  // namespace borescope::internal
