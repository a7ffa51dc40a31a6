#include "borescope/compat/hta/critical_path/critical_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace borescope::internal {

std::string_view CriticalKindName(CriticalKind kind) {
  constexpr std::string_view kNames[kCriticalKinds] = {"operator", "dependency", "launch_delay",
                                                       "kernel_kernel_delay", "sync"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view HtaCriticalKindName(CriticalKind kind) {
  constexpr std::string_view kNames[kCriticalKinds] = {
      "critical_path_operator", "critical_path_dependency", "critical_path_kernel_launch_delay",
      "critical_path_kernel_kernel_delay", "critical_path_sync_dependency"};
  return kNames[static_cast<size_t>(kind)];
}

HtaCriticalGraph::HtaCriticalGraph(std::vector<CriticalNode> nodes)
    : nodes_(std::move(nodes)), is_connected_(nodes_.size(), 0) {}

void HtaCriticalGraph::Touch(CriticalNodeId node) {
  if (is_connected_[node] == 0) {
    is_connected_[node] = 1;
    order_.push_back(node);
  }
}

size_t HtaCriticalGraph::Add(CriticalNodeId from, CriticalNodeId to, CriticalKind kind,
                             bool is_free) {
  if (from == to) {
    return kNoEdge;
  }
  const bool waits = kind == CriticalKind::kDependency || kind == CriticalKind::kSync;
  const auto [place, is_new] = edge_of_.try_emplace(uint64_t{from} << 32 | to, edges_.size());
  if (is_new) {
    Touch(from);
    Touch(to);
    edges_.push_back({from, to});
  }
  CriticalEdge& edge = edges_[place->second];
  edge.kind = kind;
  edge.weight_us = waits || is_free ? 0 : nodes_[to].ts_us - nodes_[from].ts_us;
  return place->second;
}

// The edges of each node, by first addition.
HtaCriticalGraph::Adjacency HtaCriticalGraph::AdjacentBy(CriticalNodeId CriticalEdge::* end) const {
  Adjacency adjacency{std::vector<uint32_t>(nodes_.size() + 1, 0),
                      std::vector<uint32_t>(edges_.size())};
  for (const CriticalEdge& edge : edges_) {
    ++adjacency.first[edge.*end + 1];
  }
  std::partial_sum(adjacency.first.begin(), adjacency.first.end(), adjacency.first.begin());
  std::vector<uint32_t> next(adjacency.first.begin(), adjacency.first.end() - 1);
  for (uint32_t edge = 0; edge < edges_.size(); ++edge) {
    adjacency.edges[next[edges_[edge].*end]++] = edge;
  }
  return adjacency;
}

// By generations; shorter than the list of connected nodes if there is a cycle.
std::vector<CriticalNodeId> HtaCriticalGraph::TopologicalOrder(const Adjacency& out) const {
  std::vector<uint32_t> missing(nodes_.size(), 0);
  for (const CriticalEdge& edge : edges_) {
    ++missing[edge.to];
  }
  std::vector<CriticalNodeId> sorted;
  sorted.reserve(order_.size());
  std::copy_if(order_.begin(), order_.end(), std::back_inserter(sorted),
               [&](CriticalNodeId node) { return missing[node] == 0; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (uint32_t at = out.first[sorted[i]]; at < out.first[sorted[i] + 1]; ++at) {
      const CriticalNodeId to = edges_[out.edges[at]].to;
      if (--missing[to] == 0) {
        sorted.push_back(to);
      }
    }
  }
  return sorted;
}

std::vector<CriticalEdge> HtaCriticalGraph::LongestPath() const {
  const std::vector<CriticalNodeId> sorted = TopologicalOrder(AdjacentBy(&CriticalEdge::from));
  if (sorted.size() < order_.size() || sorted.empty()) {
    return {};
  }
  const Adjacency in = AdjacentBy(&CriticalEdge::to);
  constexpr uint32_t kOrigin = std::numeric_limits<uint32_t>::max();
  std::vector<int64_t> distance(nodes_.size(), 0);
  std::vector<uint32_t> over(nodes_.size(), kOrigin);  // the edge that leads to the node
  CriticalNodeId last = sorted.front();
  for (const CriticalNodeId node : sorted) {
    for (uint32_t at = in.first[node]; at < in.first[node + 1]; ++at) {
      const CriticalEdge& edge = edges_[in.edges[at]];
      const int64_t through = distance[edge.from] + edge.length_us();
      if (over[node] == kOrigin || through > distance[node]) {
        distance[node] = through;
        over[node] = in.edges[at];
      }
    }
    last = distance[node] > distance[last] ? node : last;
  }
  std::vector<CriticalEdge> path;
  for (; over[last] != kOrigin; last = edges_[over[last]].from) {
    path.push_back(edges_[over[last]]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace borescope::internal
