// What the host did when, as far as it explains why a device idles. Pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

struct HostTime {
  IntervalSet blocked;  // in calls that wait for a device
  IntervalSet loading;  // in annotations and operators of data loading
};

// Of some processes, by number; none: of all. O(rows of the host).
HostTime FindHostTime(const Trace& trace, std::span<const int64_t> pids);

// The same on a clock whose times are `by_ns` larger.
HostTime Shifted(HostTime host, int64_t by_ns);

// What the thread of a launch did in `time`: of its events that fill at least half of it the
// innermost. Invalid if none does, or the launch is. O(rows of the thread).
HostId MainEventIn(const Trace& trace, HostId launch, Interval time);

}  // namespace borescope::internal
