// The finish of `stragglers`: collectives of all ranks are matched and the waiting in each is put
// down to the rank that came last.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Tables stragglers, late_collectives, collective_bandwidth and, for the verdict alone,
// longest_waits (rank, step, begin_ns, end_ns) from the tables that FindRankCalls makes, of all
// ranks.
// kMissingData for a single rank. O(n log n) in the calls.
Result<Tables> ScoreStragglers(Tables mapped);

}  // namespace borescope::internal
