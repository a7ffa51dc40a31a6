#include "borescope/packs/chakra/linked/linked_tree.h"

#include <algorithm>
#include <numeric>

namespace borescope::internal {

LinkedTree::LinkedTree(const LinkedTrace& linked) {
  const std::vector<LinkedNode>& nodes = linked.nodes;
  places_.reserve(nodes.size());
  for (const LinkedNode& node : nodes) {
    places_.emplace(node.id, static_cast<uint32_t>(places_.size()));
  }
  parents_.assign(nodes.size(), kNone);
  begins_.assign(nodes.size() + 1, 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (const auto parent = nodes[i].has_parent ? Find(nodes[i].parent) : std::nullopt;
        parent.has_value()) {
      parents_[i] = *parent;
      begins_[*parent + 1] += 1;
    }
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  children_.resize(begins_.back());
  std::vector<uint32_t> by_id(nodes.size());
  std::iota(by_id.begin(), by_id.end(), 0);
  std::sort(by_id.begin(), by_id.end(),
            [&](uint32_t a, uint32_t b) { return nodes[a].id < nodes[b].id; });
  std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (const uint32_t node : by_id) {
    if (parents_[node] != kNone) {
      children_[next[parents_[node]]++] = node;
    }
  }
}

std::optional<uint32_t> LinkedTree::Find(uint64_t id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<uint32_t> LinkedTree::Preorder(uint32_t root) const {
  std::vector<uint32_t> order;
  std::vector<uint32_t> stack = {root};
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    // A node has one parent, so that only the root can come up again.
    if (node == root && !order.empty()) {
      continue;
    }
    order.push_back(node);
    const std::span<const uint32_t> children = Children(node);
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return order;
}

bool IsThread(const LinkedNode& node) {
  return node.name == "[pytorch|profiler|execution_trace|thread]" ||
         node.name == "[pytorch|profiler|execution_graph|thread]";
}

bool IsProcess(const LinkedNode& node) {
  return node.name == "[pytorch|profiler|execution_trace|process]" ||
         node.name == "[pytorch|profiler|execution_graph|process]";
}

}  // namespace borescope::internal
