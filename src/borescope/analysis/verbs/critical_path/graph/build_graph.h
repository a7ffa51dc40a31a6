// Makes the event graph of one recording; docs/critical-path.md defines it. Internal to
// critical_path/.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/critical_path/graph/event_graph.h"
#include "borescope/analysis/verbs/critical_path/graph/host_sweep.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

struct RecordingGraph {
  EventGraph graph;
  HostFacts facts;
  // Per thread of facts.threads: its nodes, numbered by time without a break.
  std::vector<NodeId> first_node;
  std::vector<NodeId> end_node;
  std::vector<NodeId> start_of_work;  // per device row: its start, its end is the next; kNoNode
  DeviceClocks clocks;                // nodes of devices are at times on the clock of the host
  SyncEdges syncs;
  std::vector<int64_t> sync_weight_ns;  // per edge of syncs
};

// `data_load`: beside the usual names, what the name of an event of data loading contains; may be
// empty. O(rows log rows).
RecordingGraph BuildGraph(const RankView& view, std::string_view data_load);

// The edge from a node of a thread to its next one; kNoEdge: none.
EdgeId ThreadEdge(const EventGraph& graph, NodeId node);

}  // namespace borescope::internal
