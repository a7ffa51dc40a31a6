// The allocations that PyTorch's profiler has no event for.
#pragma once

#include <cstdint>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// Allocations and frees that no event of any thread is around: rows "[memory]" of the profiler's
// table. Begin and end of an event belong to it. O((host rows + n) log(host rows)).
int64_t CountMemoryOutsideOfEvents(const Trace& trace);

}  // namespace borescope::internal
