// The FLOPs of operator calls, for verbs that list operators whether or not they have any.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/flops/modelled_work.h"

namespace borescope::internal {

// Per host row the FLOPs (OpCost::main_flops) of a call that counts, else kMissing. Calls count as
// in `roofline`: those that selected device work belongs to (modelled_work.h), each once. In a
// recording without any device work these are the selected calls with a model that is not
// composite. O(rows), times a logarithm.
Result<std::vector<int64_t>> FlopsOfCalls(const RankView& view, const Selected& selected);

}  // namespace borescope::internal
