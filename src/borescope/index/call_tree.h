// Builds the call tree: which host event contains which, per thread, all kinds on one stack.
#pragma once

#include "borescope/base/diagnostics.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

// O(rows), tracks in parallel. An event belongs to the event on top of the stack when it starts;
// one that ends after it is counted as not nested and keeps its times. An event of zero length at
// the very end of another is inside it (microsecond clocks truncate), unless it is of an outer
// kind.
CallTree BuildCallTree(const Trace& trace, int threads, Diagnostics& diagnostics);

// True if the time of `outer` covers that of `inner`, ends included.
bool Covers(const HostEvents& host, HostId outer, HostId inner);

}  // namespace borescope::internal
