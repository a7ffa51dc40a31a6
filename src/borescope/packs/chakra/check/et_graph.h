// Dependencies as a graph: whether they go in circles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace borescope::internal {

// Edges of a graph by number of node: what each depends on.
class DependencyGraph {
 public:
  // Nodes are added in order, each with what it depends on (numbers of nodes, also later ones).
  void Add(std::span<const uint32_t> dependencies);

  uint32_t size() const { return static_cast<uint32_t>(begins_.size() - 1); }
  std::span<const uint32_t> DependenciesOf(uint32_t node) const {
    return std::span(targets_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

  // The nodes of one circle from its smallest number on, each depending on the one before it and
  // the first on the last; empty when there is none. REQUIRES: all dependencies were added.
  std::vector<uint32_t> FindCycle() const;

 private:
  std::vector<uint32_t> DependentsLeft() const;

  std::vector<size_t> begins_ = {0};
  std::vector<uint32_t> targets_;
};

}  // namespace borescope::internal
