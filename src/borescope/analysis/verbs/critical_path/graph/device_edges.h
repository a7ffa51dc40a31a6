// What device work waits for before it starts. Internal to critical_path/.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/critical_path/graph/event_graph.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

// Adds two nodes per device work, an edge from its start to its end, and edges to its start from
//   the work that ended last before it on its stream,
//   the work that ended last before it of those its launch started on several streams (a graph),
//   the work its stream waited for (kStreamWait), and
//   the start of its launch call: `launch_nodes`, per host row.
// What came last of these is what it waited for, and carries the time until the start; the others
// weigh nothing. Gives per device row its start node, the end being the next; `sync_weight_ns` is
// sized, and filled where streams wait. O(work log work).
std::vector<NodeId> AddDeviceWork(const RankView& view, const SyncEdges& syncs,
                                  const std::vector<NodeId>& launch_nodes, GraphBuilder& builder,
                                  std::vector<int64_t>& sync_weight_ns);

}  // namespace borescope::internal
