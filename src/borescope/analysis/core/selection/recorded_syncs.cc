#include "borescope/analysis/core/selection/recorded_syncs.h"

namespace borescope::internal {

std::shared_ptr<const ClockedSyncs> SyncsByRecordedTimes(const RankView& view) {
  return view.Shared<ClockedSyncs>(
      [&] { return FindSyncsAndClocks(view.trace, view.index.correlation); });
}

}  // namespace borescope::internal
