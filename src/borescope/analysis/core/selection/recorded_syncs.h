// Who waits for which device work by the times as recorded, and the clocks of the devices.
#pragma once

#include <memory>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

// Found once for all parts of a question.
std::shared_ptr<const ClockedSyncs> SyncsByRecordedTimes(const RankView& view);

// The same as FindClockedSyncs gives them: with the clocks of the devices brought to that of the
// host. Of one question they are found once.
std::shared_ptr<const ClockedSyncs> SharedClockedSyncs(const RankView& view);

}  // namespace borescope::internal
