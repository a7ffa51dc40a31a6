// idle: to be written.
#include "borescope/analysis/analyses.h"

namespace borescope {

Result<Findings> MapIdle(const RankView&, const Params&) { return Findings{}; }

}  // namespace borescope
