// Calls that hold the lock of the CUDA runtime: where they overlap, HTA takes them to have had it
// in the order in which they end.
#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/compat/hta/critical_path/critical_build.h"
#include "borescope/compat/hta/critical_path/critical_window.h"

namespace borescope::internal {
namespace {

bool HoldsLock(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

CriticalBuild::CriticalBuild(const HtaEvents& all, std::vector<HtaEventRow> rows,
                             std::string_view data_load)
    : events(all),
      window(std::move(rows)),
      graph(CriticalNodes(events, window, data_load)),
      start_of(events.size(), kNoCriticalNode),
      end_of(events.size(), kNoCriticalNode),
      is_lock(events.trace().strings().size(), 0) {
  for (CriticalNodeId id = 0; id < graph.nodes().size(); ++id) {
    const CriticalNode& node = graph.nodes()[id];
    (node.is_start ? start_of : end_of)[node.event] = id;
  }
  for (uint32_t name = 0; name < is_lock.size(); ++name) {
    is_lock[name] = HoldsLock(events.trace().Text(StringId{name})) ? 1 : 0;
  }
}

// Every call that is open when another one ends waits for it, or is it; what ends next, waits for
// the one that ended before.
void AddLockEdges(CriticalBuild& build) {
  HtaCriticalGraph& graph = build.graph;
  std::vector<CriticalNodeId> open;
  CriticalNodeId last_end = kNoCriticalNode;
  for (CriticalNodeId id = 0; id < graph.nodes().size(); ++id) {
    if (!build.IsLock(id)) {
      continue;
    }
    const CriticalNode& node = graph.nodes()[id];
    if (node.is_start) {
      open.push_back(id);
      last_end = kNoCriticalNode;
      continue;
    }
    for (; !open.empty(); open.pop_back()) {
      const HtaEventRow opened = graph.nodes()[open.back()].event;
      const bool is_own = opened == node.event;
      const size_t edge =
          graph.Add(open.back(), id, is_own ? CriticalKind::kOperator : CriticalKind::kDependency);
      if (is_own) {
        graph.Attribute(edge, opened);
      }
    }
    if (last_end != kNoCriticalNode) {
      graph.Add(last_end, id, CriticalKind::kDependency);
    }
    last_end = id;
  }
}

}  // namespace borescope::internal
