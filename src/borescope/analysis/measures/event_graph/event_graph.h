// The event graph of one recording: moments, and what has to pass between them. Arrays and
// compressed sparse rows; no node or edge is an object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "borescope/base/column_data.h"
#include "borescope/base/id.h"

namespace borescope::internal {

using NodeId = uint32_t;
using EdgeId = uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};
inline constexpr EdgeId kNoEdge = ~EdgeId{0};

enum class NodeSide : uint8_t { kNone, kHost, kDevice };

// In the order in which edges of equal worth are preferred on the path.
enum class EdgeKind : uint8_t {
  kWork,          // device work, from its start to its end
  kThread,        // a stretch of a host thread
  kSync,          // device work → the end of the call, or the start of the work, that waited for it
  kInferredSync,  // the same where it was not recorded
  kStream,        // device work → the next on its stream, or of its graph
  kLaunch,        // launch call → device work
  kInferredWork,  // device work → work of the device that began late, and after which is not
                  // recorded
  kHandover,      // from thread to thread
  kEnds,   // the begin of the recording → what depends on nothing; what nothing depends on → end
  kQueue,  // start of device work → end of the launch call that takes its place in the queue; only
           // where recordings are replayed
};
// Whether the dependency was not recorded, but follows from times and names.
inline bool IsInferred(EdgeKind kind) {
  return kind == EdgeKind::kInferredSync || kind == EdgeKind::kInferredWork;
}
// Whether it is between a host and a device, whose clocks drift: then it may lead back by
// kMostDriftNs, and weighs what it leads back.
inline bool MayLeadBack(EdgeKind kind) {
  return kind == EdgeKind::kSync || kind == EdgeKind::kInferredSync || kind == EdgeKind::kLaunch ||
         kind == EdgeKind::kQueue;
}

struct EventGraph {
  // The begin and the end of the recording.
  static constexpr NodeId kBegin = 0;
  static constexpr NodeId kEnd = 1;

  // Nodes.
  ColumnData<int64_t> ts_ns;
  ColumnData<uint32_t> event;  // row of HostEvents or DeviceEvents, by side
  ColumnData<NodeSide> side;
  // Edges, by source.
  ColumnData<EdgeId> first_edge;  // nodes + 1
  ColumnData<NodeId> target;
  ColumnData<int64_t> weight_ns;  // what is explained of the time between its ends; < 0: leads back
  ColumnData<EdgeKind> kind;

  size_t nodes() const { return ts_ns.size(); }
  size_t edges() const { return target.size(); }
};

// Collects nodes and edges in any order.
class GraphBuilder {
 public:
  GraphBuilder(int64_t begin_ns, int64_t end_ns);

  // Makes room for about as many, beside the ends: what grows by itself takes twice the memory.
  void Reserve(size_t nodes, size_t edges);
  NodeId AddNode(int64_t ts_ns, NodeSide side, uint32_t event);
  int64_t TimeOf(NodeId node) const { return graph_.ts_ns[node]; }
  // An edge from or to kNoNode, or that leads back in time further than it may, is left out.
  // `weight_ns` is at most the time between its ends; less is used where it leads back.
  void AddEdge(NodeId from, NodeId to, int64_t weight_ns, EdgeKind kind);
  // Ties loose nodes to the begin and the end, and sorts the edges.
  EventGraph Finish() &&;

 private:
  void TieLooseNodes();
  void SortBySource();

  EventGraph graph_;
  // Of the edges in the order in which they were added.
  ColumnData<NodeId> from_;
  ColumnData<NodeId> to_;
  ColumnData<int64_t> weight_ns_;
  ColumnData<EdgeKind> kind_;
};

// Nodes in an order in which every edge leads forward. Nearly all edges lead forward in time
// already; among nodes of one moment, and where clocks drift, a hostile recording can still tie a
// circle; of what is left then the earliest node goes first, and edges back to it are no part of
// any path.
struct TopologicalOrder {
  ColumnData<NodeId> nodes;
  ColumnData<uint32_t> places;  // per node: its index in `nodes`
};
// O(nodes + edges).
TopologicalOrder OrderNodes(const EventGraph& graph);

struct LongestPaths {
  ColumnData<int64_t> ns;   // per node: the longest way to it
  ColumnData<EdgeId> by;    // per node: its last edge; kNoEdge where it has none
  ColumnData<NodeId> from;  // the source of that edge
};

// One pass over `order`. Of ways of equal length the one whose last edge is of the smaller kind,
// then the one from the smaller node.
LongestPaths FindLongestPaths(const EventGraph& graph, const TopologicalOrder& order);
// Only how long the longest way to the end is, with other weights.
int64_t LongestLength(const EventGraph& graph, const TopologicalOrder& order,
                      std::span<const int64_t> weight_ns);

// Per node: how late it may come, on the clock of LongestPaths::ns, without making the end later.
ColumnData<int64_t> LatestTimes(const EventGraph& graph, const TopologicalOrder& order,
                                int64_t end_ns);

}  // namespace borescope::internal
