#include "borescope/analysis/measures/event_graph/event_graph.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "borescope/base/check.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/index/clocks/device_clocks.h"

namespace borescope::internal {

GraphBuilder::GraphBuilder(int64_t begin_ns, int64_t end_ns) {
  AddNode(begin_ns, NodeSide::kNone, 0);
  AddNode(end_ns, NodeSide::kNone, 0);
}

void GraphBuilder::Reserve(size_t nodes, size_t edges) {
  graph_.ts_ns.reserve(nodes);
  graph_.event.reserve(nodes);
  graph_.side.reserve(nodes);
  from_.reserve(edges);
  to_.reserve(edges);
  weight_ns_.reserve(edges);
  kind_.reserve(edges);
}

NodeId GraphBuilder::AddNode(int64_t ts_ns, NodeSide side, uint32_t event) {
  graph_.ts_ns.push_back(ts_ns);
  graph_.side.push_back(side);
  graph_.event.push_back(event);
  return static_cast<NodeId>(graph_.ts_ns.size() - 1);
}

void GraphBuilder::AddEdge(NodeId from, NodeId to, int64_t weight_ns, EdgeKind kind) {
  if (from == kNoNode || to == kNoNode) {
    return;
  }
  const int64_t ns = graph_.ts_ns[to] - graph_.ts_ns[from];
  if (ns < 0 && (!MayLeadBack(kind) || ns < -kMostDriftNs)) {
    return;
  }
  BS_DCHECK(ns < 0 || (weight_ns >= 0 && weight_ns <= ns));
  from_.push_back(from);
  to_.push_back(to);
  weight_ns_.push_back(std::min(weight_ns, ns));
  kind_.push_back(kind);
}

void GraphBuilder::TieLooseNodes() {
  std::vector<char> has_in(graph_.nodes());
  std::vector<char> has_out(graph_.nodes());
  for (const size_t edge : EachIndex(from_.size())) {
    // An edge that leads back in time does not count as leading on to the end.
    if (graph_.ts_ns[from_[edge]] <= graph_.ts_ns[to_[edge]]) {
      has_out[from_[edge]] = 1;
      has_in[to_[edge]] = 1;
    }
  }
  for (NodeId node = EventGraph::kEnd + 1; node < graph_.nodes(); ++node) {
    CheckStopAt(node);
    if (has_in[node] == 0) {
      AddEdge(EventGraph::kBegin, node, 0, EdgeKind::kEnds);
    }
    if (has_out[node] == 0) {
      AddEdge(node, EventGraph::kEnd, 0, EdgeKind::kEnds);
    }
  }
  AddEdge(EventGraph::kBegin, EventGraph::kEnd, 0, EdgeKind::kEnds);
}

void GraphBuilder::SortBySource() {
  ColumnData<EdgeId> next(graph_.first_edge.begin(), graph_.first_edge.end() - 1);
  graph_.target.resize(from_.size());
  graph_.weight_ns.resize(from_.size());
  graph_.kind.resize(from_.size());
  for (const size_t edge : EachIndex(from_.size())) {
    const EdgeId at = next[from_[edge]]++;
    graph_.target[at] = to_[edge];
    graph_.weight_ns[at] = weight_ns_[edge];
    graph_.kind[at] = kind_[edge];
  }
}

EventGraph GraphBuilder::Finish() && {
  TieLooseNodes();
  graph_.first_edge.assign(graph_.nodes() + 1, 0);
  for (const NodeId from : from_) {
    ++graph_.first_edge[from + 1];
  }
  for (size_t node = 1; node <= graph_.nodes(); ++node) {
    CheckStopAt(node);
    graph_.first_edge[node] += graph_.first_edge[node - 1];
  }
  SortBySource();
  return std::move(graph_);
}

namespace {

// Kahn's algorithm.
class Sorter {
 public:
  explicit Sorter(const EventGraph& graph) : graph_(graph), waits_for_(graph.nodes()) {
    result_.nodes.reserve(graph.nodes());
    result_.places.assign(graph.nodes(), kUnplaced);
    for (const NodeId to : graph.target) {
      ++waits_for_[to];
    }
  }

  TopologicalOrder Sort() {
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      CheckStopAt(node);
      if (waits_for_[node] == 0) {
        Place(node);
      }
    }
    PlaceSuccessors();
    for (const NodeId node : Unplaced()) {  // on a cycle, or after one
      if (result_.places[node] == kUnplaced) {
        Place(node);
        PlaceSuccessors();
      }
    }
    return std::move(result_);
  }

 private:
  static constexpr uint32_t kUnplaced = std::numeric_limits<uint32_t>::max();

  // The nodes that are not placed yet, by time, then by number.
  ColumnData<NodeId> Unplaced() const {
    ColumnData<NodeId> nodes;
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      CheckStopAt(node);
      if (result_.places[node] == kUnplaced) {
        nodes.push_back(node);
      }
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeId a, NodeId b) { return graph_.ts_ns[a] < graph_.ts_ns[b]; });
    return nodes;
  }

  void Place(NodeId node) {
    result_.places[node] = static_cast<uint32_t>(result_.nodes.size());
    result_.nodes.push_back(node);
  }

  void PlaceSuccessors() {
    for (; next_ < result_.nodes.size(); ++next_) {
      CheckStopAt(next_);
      const NodeId from = result_.nodes[next_];
      for (EdgeId edge = graph_.first_edge[from]; edge < graph_.first_edge[from + 1]; ++edge) {
        const NodeId to = graph_.target[edge];
        if (--waits_for_[to] == 0 && result_.places[to] == kUnplaced) {
          Place(to);
        }
      }
    }
  }

  const EventGraph& graph_;
  ColumnData<uint32_t> waits_for_;  // edges from nodes that are not placed
  TopologicalOrder result_;
  size_t next_ = 0;  // the first placed node whose edges have not been followed
};

// Calls visit(from, edge, to) for every edge that leads forward, by source in the order given.
template <class Nodes, class Visit>
void ForEachEdge(const EventGraph& graph, const TopologicalOrder& order, const Nodes& nodes,
                 const Visit& visit) {
  for (const NodeId from : nodes) {
    CheckStopAt(from);
    for (EdgeId edge = graph.first_edge[from]; edge < graph.first_edge[from + 1]; ++edge) {
      if (order.places[graph.target[edge]] > order.places[from]) {
        visit(from, edge, graph.target[edge]);
      }
    }
  }
}

}  // namespace

TopologicalOrder OrderNodes(const EventGraph& graph) { return Sorter(graph).Sort(); }

LongestPaths FindLongestPaths(const EventGraph& graph, const TopologicalOrder& order) {
  LongestPaths paths{ColumnData<int64_t>(graph.nodes()), ColumnData<EdgeId>(graph.nodes(), kNoEdge),
                     ColumnData<NodeId>(graph.nodes(), kNoNode)};
  ForEachEdge(graph, order, order.nodes, [&](NodeId from, EdgeId edge, NodeId to) {
    const int64_t ns = paths.ns[from] + graph.weight_ns[edge];
    const EdgeId known = paths.by[to];
    const bool is_better = known == kNoEdge || ns > paths.ns[to] ||
                           (ns == paths.ns[to] && std::pair(graph.kind[edge], from) <
                                                      std::pair(graph.kind[known], paths.from[to]));
    if (is_better) {
      paths.ns[to] = ns;
      paths.by[to] = edge;
      paths.from[to] = from;
    }
  });
  return paths;
}

int64_t LongestLength(const EventGraph& graph, const TopologicalOrder& order,
                      std::span<const int64_t> weight_ns) {
  ColumnData<int64_t> ns(graph.nodes());
  ForEachEdge(graph, order, order.nodes, [&](NodeId from, EdgeId edge, NodeId to) {
    ns[to] = std::max(ns[to], ns[from] + weight_ns[edge]);
  });
  return ns[EventGraph::kEnd];
}

ColumnData<int64_t> LatestTimes(const EventGraph& graph, const TopologicalOrder& order,
                                int64_t end_ns) {
  ColumnData<int64_t> latest(graph.nodes(), end_ns);
  const std::ranges::subrange backward(order.nodes.rbegin(), order.nodes.rend());
  ForEachEdge(graph, order, backward, [&](NodeId from, EdgeId edge, NodeId to) {
    latest[from] = std::min(latest[from], latest[to] - graph.weight_ns[edge]);
  });
  return latest;
}

}  // namespace borescope::internal
