// sequences: to be written.
#include "borescope/analysis/analyses.h"

namespace borescope {

Result<Findings> MapSequences(const RankView&, const Params&) { return Findings{}; }

Result<Findings> FinishSequences(Findings findings, const Params&) { return findings; }

Result<Overlay> OverlaySequences(const RankView&, const Params&) { return Overlay{}; }

}  // namespace borescope
