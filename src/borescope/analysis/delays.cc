// delays: to be written.
#include "borescope/analysis/analyses.h"

namespace borescope {

Result<Findings> MapDelays(const RankView&, const Params&) { return Findings{}; }

Result<Findings> FinishDelays(Findings findings, const Params&) { return findings; }

}  // namespace borescope
