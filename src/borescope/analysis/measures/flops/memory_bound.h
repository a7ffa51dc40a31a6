// How much of the time devices work at the speed of their memory. Judged are calls of operators
// whose bytes are known (opmodel/): a call is bound by memory if its device needs longer to move
// them than to compute, and moves them at no less than half of its bandwidth. Of slower calls it is
// something else that holds them back.
//
// `roofline` says the same of every operator; this is what of it a verdict needs, at a fraction of
// the cost. It leaves out what takes a second look at the recording: backward operators that stand
// in for what was not recorded, and graphs captured in the recording itself count as not modelled.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Table memory_bound: one row for each device with kernels. No rows where nothing can be judged: no
// device is known, or no call has shapes. O(kernels x the operators around them).
Result<Table> MemoryBoundTable(const RankView& view, const Selection& selection);

}  // namespace borescope::internal
