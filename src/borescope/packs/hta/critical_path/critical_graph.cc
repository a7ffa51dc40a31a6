#include "borescope/packs/hta/critical_path/critical_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace borescope::internal {

namespace {

using Edges = std::span<const WeighedEdge>;

// The edges of each node, in their order.
class Adjacency {
 public:
  Adjacency(Edges edges, uint32_t end_node, uint32_t WeighedEdge::* end)
      : first_(size_t{end_node} + 1, 0), edges_(edges.size()) {
    for (const WeighedEdge& edge : edges) {
      ++first_[edge.*end + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (uint32_t edge = 0; edge < edges.size(); ++edge) {
      edges_[next[edges[edge].*end]++] = edge;
    }
  }

  std::span<const uint32_t> Of(uint32_t node) const {
    return {edges_.data() + first_[node], edges_.data() + first_[node + 1]};
  }

 private:
  std::vector<uint32_t> first_;  // by node, and one past the last
  std::vector<uint32_t> edges_;
};

// In generations: first all nodes without predecessors, then each node once its last predecessor
// was visited. Shorter than `nodes` if there is a cycle.
std::vector<uint32_t> TopologicalOrder(std::span<const uint32_t> nodes, uint32_t end_node,
                                       Edges edges) {
  std::vector<uint32_t> missing(end_node, 0);
  for (const WeighedEdge& edge : edges) {
    ++missing[edge.to];
  }
  std::vector<uint32_t> sorted;
  sorted.reserve(nodes.size());
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(sorted),
               [&](uint32_t node) { return missing[node] == 0; });
  const Adjacency out(edges, end_node, &WeighedEdge::from);
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (const uint32_t edge : out.Of(sorted[i])) {
      if (--missing[edges[edge].to] == 0) {
        sorted.push_back(edges[edge].to);
      }
    }
  }
  return sorted;
}

}  // namespace

std::optional<std::vector<uint32_t>> LongestPathOf(std::span<const uint32_t> nodes,
                                                   uint32_t end_node, Edges edges) {
  const std::vector<uint32_t> sorted = TopologicalOrder(nodes, end_node, edges);
  if (sorted.size() < nodes.size() || sorted.empty()) {
    return std::nullopt;
  }
  const Adjacency in(edges, end_node, &WeighedEdge::to);
  constexpr uint32_t kOrigin = std::numeric_limits<uint32_t>::max();
  std::vector<int64_t> distance(end_node, 0);
  std::vector<uint32_t> over(end_node, kOrigin);  // the edge of the way that leads to the node
  uint32_t last = sorted.front();
  for (const uint32_t node : sorted) {
    for (const uint32_t edge : in.Of(node)) {
      const int64_t through = distance[edges[edge].from] + edges[edge].length;
      if (over[node] == kOrigin || through > distance[node]) {
        distance[node] = through;
        over[node] = edge;
      }
    }
    last = distance[node] > distance[last] ? node : last;
  }
  std::vector<uint32_t> path;
  for (; over[last] != kOrigin; last = edges[over[last]].from) {
    path.push_back(over[last]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

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

std::vector<CriticalEdge> HtaCriticalGraph::LongestPath() const {
  std::vector<WeighedEdge> weighed;
  weighed.reserve(edges_.size());
  for (const CriticalEdge& edge : edges_) {
    weighed.push_back({edge.from, edge.to, edge.length_us()});
  }
  const auto end_node = static_cast<uint32_t>(nodes_.size());
  const std::optional<std::vector<uint32_t>> found = LongestPathOf(order_, end_node, weighed);
  std::vector<CriticalEdge> path;
  for (const uint32_t edge : found.value_or(std::vector<uint32_t>())) {
    path.push_back(edges_[edge]);
  }
  return path;
}

}  // namespace borescope::internal
