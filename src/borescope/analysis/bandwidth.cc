// bandwidth: to be written.
#include "borescope/analysis/analyses.h"

namespace borescope {

Result<Findings> MapBandwidth(const RankView&, const Params&) { return Findings{}; }

Result<Overlay> OverlayBandwidth(const RankView&, const Params&) { return Overlay{}; }

}  // namespace borescope
