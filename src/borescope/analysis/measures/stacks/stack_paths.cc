#include "borescope/analysis/measures/stacks/stack_paths.h"

#include "borescope/trace/kind_names.h"

namespace borescope::internal {

std::string_view FrameKindName(FrameKind kind) {
  return kind == kSampledFrame    ? "sampled"
         : kind == kFunctionFrame ? "function"
         : kind < kDeviceKinds    ? HostKindName(static_cast<HostKind>(kind))
                                  : DeviceKindName(static_cast<DeviceKind>(kind - kDeviceKinds));
}

// The place of a sibling follows from the sizes of subtrees, which are summed from below.
PathOrder OrderOf(const Paths& paths) {
  std::vector<uint32_t> size(paths.size(), 1);
  for (auto path = static_cast<uint32_t>(paths.size()); path-- > 0;) {
    if (paths.parent(path) != kNoPath) {
      size[paths.parent(path)] += size[path];
    }
  }
  PathOrder order{std::vector<uint32_t>(paths.size()), std::vector<uint32_t>(paths.size())};
  std::vector<uint32_t> next(paths.size());  // the place of the next child of a node
  uint32_t next_root = 0;
  for (uint32_t path = 0; path < paths.size(); ++path) {
    const uint32_t parent = paths.parent(path);
    uint32_t& place = parent == kNoPath ? next_root : next[parent];
    order.place[path] = place;
    order.depth[path] = parent == kNoPath ? 0 : order.depth[parent] + 1;
    next[path] = place + 1;
    place += size[path];
  }
  return order;
}

}  // namespace borescope::internal
