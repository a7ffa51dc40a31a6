// The host time in which a row is the innermost of its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "borescope/base/id.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Per host row that `counts`: the time in which it is the one that began last of those that are
// open and count, so that the times of a thread add up to the time in which any of them was open,
// whether or not they nest. 0 for all other rows. Ranges that may overlap (Tracks::is_async) keep
// their lengths. O(rows).
std::vector<int64_t> InnermostTimes(const Trace& trace, const std::function<bool(HostId)>& counts);

}  // namespace borescope::internal
