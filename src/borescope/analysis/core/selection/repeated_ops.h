// Which operators inside backward repeat forward, as checkpointing makes them: autograd records
// them (they, or operators around them, have sequence numbers). It also records the operators of a
// backward that is itself differentiated (create_graph=True). These are recognised by what is done
// with them later: a function that runs backward in a later pass belongs to one, whereas a repeated
// forward is run backward in the same call, or not at all.
#pragma once

#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Per host row: 1 for operators that autograd records, with no operator between them and the
// record that runs backward, but for those inside a pass that is differentiated. 0 outside of
// backward. O(rows + texts).
std::vector<char> RepeatedOps(const RankView& view);

}  // namespace borescope::internal
