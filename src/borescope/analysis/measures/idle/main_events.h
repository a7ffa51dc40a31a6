// What fills most of each of many times of one thread, found in one pass over its rows.
#pragma once

#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

// As MainEventIn (host_time.h) would answer for each of `times`, of the events of thread `track`.
// REQUIRES: `times` is sorted and disjoint. O(rows of the thread (log times) + (rows that are open
// in the middle of a time) log of these).
std::vector<HostId> MainEventsIn(const Trace& trace, TrackId track,
                                 std::span<const Interval> times);

}  // namespace borescope::internal
