#include "borescope/compat/hta/critical_path/critical_graph.h"

#include <optional>
#include <utility>

#include "borescope/compat/hta/critical_path/longest_path.h"

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
