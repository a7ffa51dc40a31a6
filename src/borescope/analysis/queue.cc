// queue: to be written.
#include "borescope/analysis/analyses.h"

namespace borescope {

Result<Findings> MapQueue(const RankView&, const Params&) { return Findings{}; }

Result<Overlay> OverlayQueue(const RankView&, const Params&) { return Overlay{}; }

}  // namespace borescope
