#include "borescope/analysis/core/selection/recorded_syncs.h"

namespace borescope::internal {

std::shared_ptr<const ClockedSyncs> SyncsByRecordedTimes(const RankView& view) {
  return view.Shared<ClockedSyncs>(
      [&] { return FindSyncsAndClocks(view.trace, view.index.correlation); });
}

std::shared_ptr<const ClockedSyncs> SharedClockedSyncs(const RankView& view) {
  struct ByClocks {};
  return view.Shared<ByClocks>(
      [&] { return FindClockedSyncs(view.trace, view.index.correlation); });
}

}  // namespace borescope::internal
