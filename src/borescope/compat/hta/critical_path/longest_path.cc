#include "borescope/compat/hta/critical_path/longest_path.h"

#include <algorithm>
#include <limits>
#include <numeric>

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

// By generations: first all nodes without predecessors, then each as its last predecessor is
// passed. Shorter than `nodes` if there is a cycle.
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
  std::vector<uint32_t> over(end_node, kOrigin);  // the edge that leads to the node
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

}  // namespace borescope::internal
