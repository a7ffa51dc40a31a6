// Which kinds of events a trace holds at all.
#pragma once

#include <algorithm>

#include "borescope/trace/trace.h"

namespace borescope {

inline bool HasHostKind(const Trace& trace, HostKind kind) {
  const auto& kinds = trace.host().kind;
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace borescope
