// Which kinds of events a trace holds at all.
#pragma once

#include <algorithm>

#include "borescope/trace/trace.h"

namespace borescope::internal {

inline bool HasHostKind(const Trace& trace, HostKind kind) {
  const auto& kinds = trace.host().kind;
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Whether any kernel, copy or fill was recorded; of one track: device_time.h.
inline bool HasDeviceWork(const Trace& trace) {
  const auto& kinds = trace.device().kind;
  return std::any_of(kinds.begin(), kinds.end(), IsDeviceWork);
}

}  // namespace borescope::internal
