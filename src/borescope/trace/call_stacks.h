// Looks up the stack from which a call was made.
#pragma once

#include <algorithm>
#include <cstdint>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// Calls of CUDA, HIP, a library or the operating system: those with a detail in RuntimeCalls.
inline bool IsCall(HostKind kind) { return kind == HostKind::kRuntime || kind == HostKind::kOther; }

// The innermost frame of the stack of a host row: row of StackFrames. kNoDetail for rows that are
// no calls, and calls whose stack was not recorded. O(log(recorded stacks)).
inline uint32_t StackOfCall(const Trace& trace, HostId row) {
  const uint32_t call =
      IsCall(trace.host().kind[row.value]) ? trace.host().detail[row.value] : kNoDetail;
  const CallStacks& stacks = trace.call_stacks();
  const auto found = std::lower_bound(stacks.call.begin(), stacks.call.end(), call);
  return found == stacks.call.end() || *found != call
             ? kNoDetail
             : stacks.frame[static_cast<size_t>(found - stacks.call.begin())];
}

}  // namespace borescope::internal
