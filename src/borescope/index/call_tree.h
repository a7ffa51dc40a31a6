// Builds the call tree: which host event contains which, per thread, all kinds on one stack.
#pragma once

#include <cstdint>

#include "borescope/base/diagnostics.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

// Which of the events that are open when another starts is its parent.
enum class Nesting : uint8_t {
  kCovering,     // the last begun whose time covers it, as PyTorch's profiler nests events
  kOpenAtStart,  // the last begun, even if the other outlives it
};

// O(rows), tracks in parallel. An event that outlives the one that begins last before it is counted
// as not nested, and both keep their times. With kCovering it is a child of the first event outward
// that covers it: a step that begins in the last call of the step before it follows that step.
// Where times were rounded (RoundingOf), an event that ends later by no more than that, and has the
// larger part of its time inside, counts as covered. An event of zero length at the very end of
// another is inside it (microsecond clocks truncate), unless it is of an outer kind.
CallTree BuildCallTree(const Trace& trace, int threads, Diagnostics& diagnostics,
                       Nesting nesting = Nesting::kCovering);

// True if the time of `outer` covers that of `inner`, ends included.
bool Covers(const HostEvents& host, HostId outer, HostId inner);

}  // namespace borescope::internal
