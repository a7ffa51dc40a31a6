// What the main thread of a rank does of which no device work was recorded: what there is to say
// about a recording of the host alone. Internal to summary/.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Table host_use of a rank; no rows where it has device work, or no main thread (FindThreads). Of
// several main threads that whose events fill the most time. O(rows of the host).
Table HostUseTable(const RankView& view, const Selected& selected);

}  // namespace borescope::internal
