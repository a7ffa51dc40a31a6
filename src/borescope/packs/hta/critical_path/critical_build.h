// The graph of HTA's critical path: which edges there are. In the order in which HTA adds them,
// which decides between equally long paths:
//
//   critical_locks.cc    calls that hold the lock of the CUDA runtime, one after another
//   critical_stacks.cc   operators and calls of a thread, nested
//   critical_device.cc   kernels, copies and waits, with the events of critical_syncs.h
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/packs/hta/critical_path/critical_graph.h"
#include "borescope/packs/hta/events.h"

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

}  // namespace borescope::internal
