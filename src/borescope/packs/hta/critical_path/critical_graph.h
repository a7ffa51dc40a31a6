// The directed graph of HTA's critical path, with the order and the tie rules of networkx, in which
// HTA keeps it: an edge that is added twice keeps its place and takes the newer values, and nodes
// are in the order in which edges first touched them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/hta/frame.h"

namespace borescope::internal {

// dag_longest_path of networkx, in which HTA keeps its graphs of events: of several longest ways,
// the one that networkx finds first.

struct WeighedEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t length = 0;  // >= 0
};

// The edges of the longest way as indices into `edges`, first to last; none if there is a cycle or
// no node. `nodes` are those of the graph in the order of networkx, all less than `end_node`;
// `edges` are in the order in which they were added, without duplicates.
std::optional<std::vector<uint32_t>> LongestPathOf(std::span<const uint32_t> nodes,
                                                   uint32_t end_node,
                                                   std::span<const WeighedEdge> edges);

enum class CriticalKind : uint8_t {
  kOperator,
  kDependency,
  kLaunchDelay,
  kKernelKernelDelay,
  kSync
};
inline constexpr size_t kCriticalKinds = 5;
// "operator", "launch_delay", ...
std::string_view CriticalKindName(CriticalKind kind);
// HTA's own: "critical_path_operator", ...
std::string_view HtaCriticalKindName(CriticalKind kind);

// A point in time: start or end of an event.
struct CriticalNode {
  HtaEventRow event = kNoHtaEvent;
  int64_t ts_us = 0;
  bool is_start = false;
};
using CriticalNodeId = uint32_t;
inline constexpr CriticalNodeId kNoCriticalNode = std::numeric_limits<CriticalNodeId>::max();

struct CriticalEdge {
  CriticalNodeId from = 0;
  CriticalNodeId to = 0;
  CriticalKind kind = CriticalKind::kOperator;
  int64_t weight_us = 0;            // may be negative; counts as 0 on the way
  HtaEventRow event = kNoHtaEvent;  // to which the time is attributed; none for waits

  int64_t length_us() const { return weight_us < 0 ? 0 : weight_us; }
};

class HtaCriticalGraph {
 public:
  // `nodes` in their order in time.
  explicit HtaCriticalGraph(std::vector<CriticalNode> nodes);

  const std::vector<CriticalNode>& nodes() const { return nodes_; }
  const std::vector<CriticalEdge>& edges() const { return edges_; }  // by first addition
  // Nodes that edges touch.
  size_t connected_nodes() const { return order_.size(); }

  // Returns the number of the edge. An edge from a node to itself is none: kNoEdge.
  size_t Add(CriticalNodeId from, CriticalNodeId to, CriticalKind kind, bool is_free = false);
  void Attribute(size_t edge, HtaEventRow event) { edges_[edge].event = event; }
  static constexpr size_t kNoEdge = std::numeric_limits<size_t>::max();

  // networkx's dag_longest_path: of several longest ways the first one in its order. Edges from the
  // first to the last; empty if the graph has a cycle or no edges.
  std::vector<CriticalEdge> LongestPath() const;

 private:
  void Touch(CriticalNodeId node);

  std::vector<CriticalNode> nodes_;
  std::vector<CriticalEdge> edges_;
  HashMap<uint64_t, size_t> edge_of_;  // by both ends
  std::vector<CriticalNodeId> order_;  // connected nodes by first touch
  std::vector<char> is_connected_;
};

}  // namespace borescope::internal
