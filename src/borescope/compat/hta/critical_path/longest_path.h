// dag_longest_path of networkx, in which HTA keeps its graphs of events: of several longest ways
// the one that it would find first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace borescope::internal {

struct WeighedEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t length = 0;  // >= 0
};

// The edges of the longest way as places in `edges`, first to last; nothing where there is a cycle
// or no node. `nodes` are those of the graph in the order in which networkx has them, all less than
// `end_node`; `edges` in the order in which they were added, no two alike.
std::optional<std::vector<uint32_t>> LongestPathOf(std::span<const uint32_t> nodes,
                                                   uint32_t end_node,
                                                   std::span<const WeighedEdge> edges);

}  // namespace borescope::internal
