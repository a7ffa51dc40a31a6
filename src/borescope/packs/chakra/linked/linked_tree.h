// Who is whose child in a linked trace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/chakra/linked/linked_trace.h"

namespace borescope::internal {

// Places are indices in LinkedTrace::nodes.
class LinkedTree {
 public:
  explicit LinkedTree(const LinkedTrace& linked);

  std::optional<uint32_t> Find(uint64_t id) const;
  // Nothing where the node names no parent, or one that is not in the document.
  std::optional<uint32_t> Parent(uint32_t node) const {
    return parents_[node] == kNone ? std::nullopt : std::optional(parents_[node]);
  }
  // Ascending by id. A node that names itself is its own child.
  std::span<const uint32_t> Children(uint32_t node) const {
    return std::span(children_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

  // The nodes below and including `root`, parents first, children ascending by id. Each once, also
  // where the document goes in circles.
  std::vector<uint32_t> Preorder(uint32_t root) const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  HashMap<uint64_t, uint32_t> places_;
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> begins_;  // of each node in children_
  std::vector<uint32_t> children_;
};

// Whether the node stands for a thread, or for the process.
bool IsThread(const LinkedNode& node);
bool IsProcess(const LinkedNode& node);

}  // namespace borescope::internal
