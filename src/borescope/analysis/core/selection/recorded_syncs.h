// Who waits for which device work by the times as recorded, and the clocks of the devices.
#pragma once

#include <memory>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

// Found once for all parts of a question.
std::shared_ptr<const ClockedSyncs> SyncsByRecordedTimes(const RankView& view);

}  // namespace borescope::internal
