// Makes the event graph of one recording; docs/how-it-works/critical-path.md defines it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/measures/event_graph/full_queues.h"
#include "borescope/analysis/measures/event_graph/host_sweep.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

enum class GraphUse : uint8_t {
  kPath,    // to look for what decided how long the recording took
  kReplay,  // to run it again with other times: also the starts and ends of steps, those of waits
            // for data that other processes load (FindArrivals), and the calls that need a place in
            // a queue that was full (kQueue)
};

struct RecordingGraph {
  EventGraph graph;
  HostFacts facts;
  // Per thread of facts.threads: its nodes, numbered by time without a break.
  ColumnData<NodeId> first_node;
  ColumnData<NodeId> end_node;
  ColumnData<NodeId> start_of_work;  // per device row: its start, its end is the next; kNoNode
  DeviceClocks clocks;               // nodes of devices are at times on the clock of the host
  SyncEdges syncs;
  ColumnData<int64_t> sync_weight_ns;  // per edge of syncs
  // Per track: whether it begins with work from before the recording (inherited_work.h).
  std::vector<char> inherited;
  // kReplay only. Per host row, where it is a node; else kNoNode.
  ColumnData<NodeId> start_of_event;
  ColumnData<NodeId> end_of_event;
  std::vector<QueuedCall> queued;
};

// `data_load`: beside the usual names, what the name of an event of data loading contains; may be
// empty. O(rows log rows).
RecordingGraph BuildGraph(const RankView& view, std::string_view data_load,
                          GraphUse use = GraphUse::kPath);

// The edge from a node of a thread to its next one; kNoEdge: none.
EdgeId ThreadEdge(const EventGraph& graph, NodeId node);

}  // namespace borescope::internal
