#include "borescope/compat/chakra/hta_graph.h"

#include <algorithm>

namespace borescope::internal::chakra::compat {

HtaGraph::Ends HtaGraph::AddEvent(uint32_t event, int64_t begin, int64_t end) {
  const auto first = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({event, begin});
  nodes_.push_back({event, end});
  out_.resize(nodes_.size());
  in_.resize(nodes_.size());
  return ends_[event] = {first, first + 1};
}

const HtaGraph::Ends* HtaGraph::Find(int64_t event) const {
  const auto found = event < 0 ? ends_.end() : ends_.find(static_cast<uint32_t>(event));
  return found == ends_.end() ? nullptr : &found->second;
}

void HtaGraph::Add(uint32_t from, uint32_t to, int64_t weight, bool is_sync) {
  const uint64_t key = uint64_t{from} << 32U | to;
  const auto [at, is_new] = edge_of_.try_emplace(key, static_cast<uint32_t>(edges_.size()));
  if (!is_new) {
    edges_[at->second] = {from, to, weight, is_sync};
    return;
  }
  out_[from].push_back(at->second);
  in_[to].push_back(at->second);
  edges_.push_back({from, to, weight, is_sync});
}

// First all nodes without predecessors, then each as its last predecessor is passed.
std::vector<uint32_t> HtaGraph::Order() const {
  std::vector<size_t> open(nodes_.size());
  std::vector<uint32_t> order;
  order.reserve(nodes_.size());
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    open[node] = in_[node].size();
    if (open[node] == 0) {
      order.push_back(node);
    }
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const uint32_t edge : out_[order[i]]) {
      if (--open[edges_[edge].to] == 0) {
        order.push_back(edges_[edge].to);
      }
    }
  }
  if (order.size() != nodes_.size()) {
    order.clear();
  }
  return order;
}

bool HtaGraph::LongestPath(std::vector<HtaEdge>& path) const {
  constexpr uint32_t kStart = ~uint32_t{0};
  const std::vector<uint32_t> order = Order();
  if (order.empty() || std::any_of(edges_.begin(), edges_.end(),
                                   [](const HtaEdge& edge) { return edge.weight < -1; })) {
    return false;
  }
  std::vector<int64_t> length(nodes_.size(), 0);
  std::vector<uint32_t> last_edge(nodes_.size(), kStart);
  uint32_t farthest = order.front();
  for (const uint32_t node : order) {
    for (const uint32_t edge : in_[node]) {
      // Weights of -1 count as 0, so that no length is below 0.
      const int64_t reached = length[edges_[edge].from] + std::max<int64_t>(edges_[edge].weight, 0);
      if (last_edge[node] == kStart || reached > length[node]) {
        length[node] = reached;
        last_edge[node] = edge;
      }
    }
    farthest = length[node] > length[farthest] ? node : farthest;
  }
  for (uint32_t edge = last_edge[farthest]; edge != kStart; edge = last_edge[edges_[edge].from]) {
    path.push_back(edges_[edge]);
  }
  std::reverse(path.begin(), path.end());
  return true;
}

}  // namespace borescope::internal::chakra::compat
