#include "borescope/compat/chakra/hta_graph.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "borescope/compat/hta/critical_path/longest_path.h"

namespace borescope::internal::chakra::compat {

HtaGraph::Ends HtaGraph::AddEvent(uint32_t event, int64_t begin, int64_t end) {
  const auto first = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({event, begin});
  nodes_.push_back({event, end});
  return ends_[event] = {first, first + 1};
}

const HtaGraph::Ends* HtaGraph::Find(int64_t event) const {
  const auto found = event < 0 ? ends_.end() : ends_.find(static_cast<uint32_t>(event));
  return found == ends_.end() ? nullptr : &found->second;
}

void HtaGraph::Add(uint32_t from, uint32_t to, int64_t weight, bool is_sync) {
  const uint64_t key = uint64_t{from} << 32U | to;
  const auto [at, is_new] = edge_of_.try_emplace(key, static_cast<uint32_t>(edges_.size()));
  if (is_new) {
    edges_.emplace_back();
  }
  edges_[at->second] = {from, to, weight, is_sync};
}

bool HtaGraph::LongestPath(std::vector<HtaEdge>& path) const {
  std::vector<WeighedEdge> weighed;
  weighed.reserve(edges_.size());
  for (const HtaEdge& edge : edges_) {
    if (edge.weight < -1) {
      return false;
    }
    // Weights of -1 count as 0, so that no length is below 0.
    weighed.push_back({edge.from, edge.to, std::max<int64_t>(edge.weight, 0)});
  }
  std::vector<uint32_t> nodes(nodes_.size());
  std::iota(nodes.begin(), nodes.end(), 0U);
  const auto end_node = static_cast<uint32_t>(nodes.size());
  const std::optional<std::vector<uint32_t>> found = LongestPathOf(nodes, end_node, weighed);
  for (const uint32_t edge : found.value_or(std::vector<uint32_t>())) {
    path.push_back(edges_[edge]);
  }
  return found.has_value();
}

}  // namespace borescope::internal::chakra::compat
