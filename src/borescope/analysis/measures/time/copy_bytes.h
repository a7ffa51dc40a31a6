// How much a memcpy or memset moved or set.
#pragma once

#include <cstdint>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// kMissing where that was not recorded, or as less than nothing, and of a kernel.
inline int64_t CopyBytes(const Trace& trace, DeviceId id) {
  const DeviceKind kind = trace.device().kind[id.value];
  const uint32_t detail = trace.device().detail[id.value];
  if ((kind != DeviceKind::kMemcpy && kind != DeviceKind::kMemset) || detail == kNoDetail) {
    return kMissing;
  }
  const int64_t bytes = trace.copies().bytes[detail];
  return bytes < 0 ? kMissing : bytes;
}

}  // namespace borescope::internal
