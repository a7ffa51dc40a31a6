#include "borescope/packs/chakra/check/et_graph.h"

#include <algorithm>

namespace borescope::internal {

void DependencyGraph::Add(std::span<const uint32_t> dependencies) {
  targets_.insert(targets_.end(), dependencies.begin(), dependencies.end());
  begins_.push_back(targets_.size());
}

// Kahn from the far end: takes away nodes that nothing left depends on. Those that are left have
// more than 0 dependents left.
std::vector<uint32_t> DependencyGraph::DependentsLeft() const {
  std::vector<uint32_t> dependents(size(), 0);
  for (const uint32_t target : targets_) {
    dependents[target] += 1;
  }
  std::vector<uint32_t> free;
  for (uint32_t node = 0; node < size(); ++node) {
    if (dependents[node] == 0) {
      free.push_back(node);
    }
  }
  while (!free.empty()) {
    const uint32_t node = free.back();
    free.pop_back();
    for (const uint32_t target : DependenciesOf(node)) {
      if (--dependents[target] == 0) {
        free.push_back(target);
      }
    }
  }
  return dependents;
}

std::vector<uint32_t> DependencyGraph::FindCycle() const {
  const std::vector<uint32_t> dependents = DependentsLeft();
  const auto first =
      std::find_if(dependents.begin(), dependents.end(), [](uint32_t n) { return n != 0; });
  if (first == dependents.end()) {
    return {};
  }
  // What is left has a dependent that is left: going against the arrows ends in a circle.
  std::vector<uint32_t> dependent_of(size(), 0);
  for (uint32_t node = 0; node < size(); ++node) {
    for (const uint32_t target : DependenciesOf(node)) {
      if (dependents[node] != 0 && dependents[target] != 0) {
        dependent_of[target] = node;
      }
    }
  }
  auto node = static_cast<uint32_t>(first - dependents.begin());
  for (uint32_t step = 0; step < size(); ++step) {
    node = dependent_of[node];
  }
  std::vector<uint32_t> cycle = {node};
  for (uint32_t next = dependent_of[node]; next != node; next = dependent_of[next]) {
    cycle.push_back(next);
  }
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace borescope::internal
