// What a thread of the host mostly did in a time: the innermost event that fills at least half of
// it, if there is one that says more than the number of a step; else that of the activities of
// host_activities.h with most of it, unless of more nothing is known.
#pragma once

#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/idle/host_activities.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

class ThreadHistory;

struct MainActivity {
  HostActivity activity = HostActivity::kUnknown;  // kUnknown: nothing is known
  StringId name;                                   // of the call, function or event
  StringId caller;  // of a call with a recorded stack: the function that made it
  StringId op;      // the innermost operator around for at least half of the time
  int64_t ns = 0;   // how much of the time
};

// For each of `times` of one thread. REQUIRES: `times` is sorted and disjoint, without empty ones;
// `period_ns` is that of SamplingPeriod. O(rows of the thread, with a logarithm).
std::vector<MainActivity> FindMainActivities(const RankView& view, TrackId track,
                                             std::span<const Interval> times, int64_t period_ns);

// The same of one time, from what was prepared for its thread.
MainActivity FindMainActivity(const RankView& view, const ThreadHistory& history, Interval time);

}  // namespace borescope::internal
