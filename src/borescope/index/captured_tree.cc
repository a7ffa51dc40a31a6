#include "borescope/index/captured_tree.h"

#include <algorithm>

namespace borescope::internal {

void AppendCaptured(const Trace& trace, CallTree& tree) {
  const ColumnData<HostId>& parents = trace.captured().parent;
  const auto first = static_cast<uint32_t>(trace.host().size());
  tree.parent.insert(tree.parent.end(), parents.begin(), parents.end());
  tree.subtree_end.resize(tree.parent.size());
  // Rows are in preorder, so that from the last to the first every subtree is complete before its
  // parent is reached.
  for (auto row = static_cast<uint32_t>(tree.parent.size()); row-- > first;) {
    tree.subtree_end[row] = std::max(tree.subtree_end[row], row + 1);
    const HostId parent = tree.parent[row];
    if (parent.valid()) {
      uint32_t& end = tree.subtree_end[parent.value];
      end = std::max(end, tree.subtree_end[row]);
    }
  }
}

}  // namespace borescope::internal
