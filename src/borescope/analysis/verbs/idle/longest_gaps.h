// Table longest_gaps: when a device does nothing between its work, the longest time first. Internal
// to idle/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/idle/late_host.h"

namespace borescope::internal {

// Without rows. `shown` are shown by default as text.
Table NewLongestGaps(int64_t shown);

// Adds the `most` longest gaps of a device, and of each step the longest. Of equal ones the
// earlier. `late`: what the host did. O(gaps log gaps) and that of LateHost.
void PushLongestGaps(Table& table, const RankView& view, const Selected& selected,
                     const DeviceIdle& device, size_t most, LateHost& late);

// Of all ranks together: the longest first.
Table FinishLongestGaps(const Table& table);

}  // namespace borescope::internal
