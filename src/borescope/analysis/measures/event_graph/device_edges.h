// What device work waits for before it starts.
#pragma once

#include <cstdint>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/measures/idle/idle_division.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

// What else is known of the recording.
struct DeviceFacts {
  const DeviceClocks& clocks;
  const SyncEdges& syncs;
  const ColumnData<NodeId>& launch_nodes;  // per host row
};

// Adds two nodes per device work, at times on the clock of the host, within the recording; an edge
// from its start to its end; and edges to its start from
//   the work that ended last before it on its stream,
//   the work that ended last before it of those its launch started on several streams (a graph),
//   the work its stream waited for (kStreamWait), and
//   the start of its launch call.
// What came last of these is what it waited for, and carries the time until the start; the others
// weigh nothing. Where waits between streams were not recorded, work of its device that ended more
// than kUsualDelayNs after all of these is what it waited for: the last of it carries the time, by
// an inferred edge. Gives per device row its start node, the end being the next; `sync_weight_ns`
// is sized, and filled where streams wait. O(work log work).
ColumnData<NodeId> AddDeviceWork(const RankView& view, const DeviceFacts& facts,
                                 GraphBuilder& builder, ColumnData<int64_t>& sync_weight_ns);

}  // namespace borescope::internal
