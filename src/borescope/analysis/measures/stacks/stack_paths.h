// The distinct paths of call stacks: a tree in which each node knows the one around it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

inline constexpr uint32_t kNoPath = ~uint32_t{0};

// What kind of frame a node is: a function of a sampled
// stack or of one recorded with a call, a HostKind, or a DeviceKind after those.
using FrameKind = int64_t;
inline constexpr FrameKind kSampledFrame = -1;
inline constexpr FrameKind kFunctionFrame = -2;
inline constexpr FrameKind kDeviceKinds = static_cast<FrameKind>(HostKind::kOther) + 1;

inline FrameKind KindOf(HostKind kind) { return static_cast<FrameKind>(kind); }
inline FrameKind KindOf(DeviceKind kind) { return kDeviceKinds + static_cast<FrameKind>(kind); }

std::string_view FrameKindName(FrameKind kind);

// Not thread-safe.
class Paths {
 public:
  uint32_t Find(uint32_t parent, int64_t name, FrameKind kind) {
    const int64_t key[] = {parent == kNoPath ? -1 : int64_t{parent}, name, kind};
    return nodes_.Find(key);
  }
  // A node above all others that is no frame.
  uint32_t FindNoFrame(int64_t name) { return Find(kNoPath, name, KindOf(HostKind::kOther)); }

  size_t size() const { return nodes_.size(); }
  // A node follows the one around it.
  uint32_t parent(uint32_t path) const {
    const int64_t parent = nodes_.key(path)[0];
    return parent < 0 ? kNoPath : static_cast<uint32_t>(parent);
  }
  int64_t name(uint32_t path) const { return nodes_.key(path)[1]; }
  FrameKind kind(uint32_t path) const { return nodes_.key(path)[2]; }

 private:
  Grouper nodes_{3};
};

// Place of every node in preorder, and how deep it lies.
struct PathOrder {
  std::vector<uint32_t> place;
  std::vector<uint32_t> depth;
};

PathOrder OrderOf(const Paths& paths);

}  // namespace borescope::internal
