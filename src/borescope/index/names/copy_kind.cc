#include "borescope/index/names/copy_kind.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {
namespace {

struct CopyRule {
  std::string_view part;  // of the name
  CopyKind kind;
};

// The first part that is found decides. CUDA arrays ("A") are on the device; "M" is Intel's term
// for host memory.
constexpr CopyRule kCopyRules[] = {
    {"Memset", CopyKind::kMemset},
    {"FillBuffer", CopyKind::kMemset},
    {"HtoD", CopyKind::kHostToDevice},
    {"HtoA", CopyKind::kHostToDevice},
    {"H2D", CopyKind::kHostToDevice},
    {"M2D", CopyKind::kHostToDevice},
    {"HostToDevice", CopyKind::kHostToDevice},
    {"HOST_TO_DEVICE", CopyKind::kHostToDevice},
    {"DtoH", CopyKind::kDeviceToHost},
    {"AtoH", CopyKind::kDeviceToHost},
    {"D2H", CopyKind::kDeviceToHost},
    {"D2M", CopyKind::kDeviceToHost},
    {"DeviceToHost", CopyKind::kDeviceToHost},
    {"DEVICE_TO_HOST", CopyKind::kDeviceToHost},
    {"PtoP", CopyKind::kPeerToPeer},
    {"P2P", CopyKind::kPeerToPeer},
    {"PeerToPeer", CopyKind::kPeerToPeer},
    {"DtoD", CopyKind::kDeviceToDevice},
    {"DtoA", CopyKind::kDeviceToDevice},
    {"AtoD", CopyKind::kDeviceToDevice},
    {"AtoA", CopyKind::kDeviceToDevice},
    {"D2D", CopyKind::kDeviceToDevice},
    {"DeviceToDevice", CopyKind::kDeviceToDevice},
    {"DEVICE_TO_DEVICE", CopyKind::kDeviceToDevice},
    {"HtoH", CopyKind::kHostToHost},
    {"H2H", CopyKind::kHostToHost},
    {"M2M", CopyKind::kHostToHost},
    {"HostToHost", CopyKind::kHostToHost},
    {"HOST_TO_HOST", CopyKind::kHostToHost},
};

}  // namespace

std::string_view CopyKindName(CopyKind kind) {
  constexpr std::string_view kNames[] = {"HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "memset", "other"};
  static_assert(std::size(kNames) == static_cast<size_t>(CopyKind::kCount));
  return kNames[static_cast<size_t>(kind)];
}

CopyKind ClassifyCopy(DeviceKind kind, std::string_view name) {
  if (kind == DeviceKind::kMemset) {
    return CopyKind::kMemset;
  }
  const auto* rule = std::find_if(
      std::begin(kCopyRules), std::end(kCopyRules),
      [name](const CopyRule& r) { return name.find(r.part) != std::string_view::npos; });
  return rule == std::end(kCopyRules) ? CopyKind::kOther : rule->kind;
}

}  // namespace borescope::internal
