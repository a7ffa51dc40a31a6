#include "borescope/analysis/measures/replay/lag_classes.h"

#include <algorithm>

namespace borescope::internal {
namespace {

constexpr size_t kMostClasses = 65'000;

std::string_view WorkName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kMemcpy:
      return "memcpy";
    case DeviceKind::kMemset:
      return "memset";
    default:
      return "kernel";
  }
}

uint64_t Packed(const LagKey& key) {
  return uint64_t{key.call.value} << 24 | static_cast<uint64_t>(key.kind) << 16 |
         static_cast<uint64_t>(key.work) << 12 | static_cast<uint64_t>(key.from) << 8 |
         (key.inferred ? 1 : 0);
}

}  // namespace

std::string_view LagKindName(LagKind kind) {
  switch (kind) {
    case LagKind::kLaunch:
      return "launch";
    case LagKind::kStream:
      return "stream";
    case LagKind::kGraph:
      return "graph";
    case LagKind::kEvent:
      return "event";
    case LagKind::kWait:
      return "wait";
    case LagKind::kQueue:
      return "queue";
    case LagKind::kCall:
      return "call";
  }
  return "";
}

LagClassId LagClasses::IdOf(const LagKey& key) {
  const uint64_t packed = Packed(key);
  Found& last = last_[static_cast<size_t>(key.kind)];
  if (last.packed == packed) {
    return last.id;
  }
  const auto next = static_cast<LagClassId>(std::min(keys_.size(), kMostClasses));
  const auto [found, is_new] = ids_.try_emplace(packed, next);
  if (is_new && keys_.size() <= kMostClasses) {
    keys_.push_back(key);
  }
  last = {packed, found->second};
  return found->second;
}

std::string LagClasses::Describe(const Trace& trace, LagClassId id) const {
  const LagKey& key = keys_[id];
  std::string call(key.call.valid() ? trace.Text(key.call) : std::string_view());
  const std::string work(WorkName(key.work));
  switch (key.kind) {
    case LagKind::kLaunch:
      return call + " → " + work;
    case LagKind::kStream:
      return std::string(WorkName(key.from)) + " → " + work;
    case LagKind::kGraph:
      return "within a graph";
    case LagKind::kEvent:
      return key.inferred ? "other stream, inferred" : "other stream";
    case LagKind::kWait:
      return (key.inferred ? "work → end of " + call + ", inferred" : "work → end of " + call);
    case LagKind::kQueue:
      return "start of work → end of the launch that waited for its place";
    case LagKind::kCall:
      return call + ", without a wait";
  }
  return call;
}

}  // namespace borescope::internal
