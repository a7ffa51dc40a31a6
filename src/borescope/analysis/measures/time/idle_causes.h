// Why a GPU idles. Every gap between device work is put down to its cause, by what the host was
// doing when the gap began at time g, and after:
//
//   sync     the work after the gap was launched after g, and at g the host sat in a blocking call
//            (…Synchronize, a blocking memcpy): as much of the gap as it had been blocked by then
//            and until the launch, since without it would have launched that much earlier; all of
//            the gap where that had been in time
//   data     launched after g, and host annotations or operators of data loading fill at least half
//            of the time from g, or from the end of sync, to the launch
//   host     launched after g for any other reason: the host is slower than the device
//   device   launched before g: launch latency, dependencies between streams
//   unknown  the launch of the work after the gap was not recorded
//
// Gaps are those of `gaps`: work without length ends one, too, and of several works that begin
// where a gap ends the one launched first decides. Time before the first and after the last device
// work of the recording is head and tail. All seven add up to the idle time of the breakdown,
// exactly, in the same windows.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

// Table idle_causes: rank, gpu, idle_ns, gaps, the seven causes in ns, and longest_gap_ns:
// the most of sync and host in one gap.
Result<Table> IdleCauses(const RankView& view, const Selection& selection);

// The same as people see it: without the longest gap, which only the verdict reads.
Table ShownCauses(Table causes);

}  // namespace borescope::internal
