// Which calls of operators have their FLOPs and bytes counted.
#pragma once

#include <vector>

#include "borescope/analysis/selection.h"
#include "borescope/opmodel/op_costs.h"

namespace borescope {

// Per host row 1 for a call whose cost counts, once, by the rule of opmodel/op_model.h: the
// innermost operator with a model around the launch of selected device work, less composite ones
// that have such a call inside. In a recording without any device work these are the selected calls
// with a model that is not composite. O(rows).
std::vector<char> CountedCalls(const RankView& view, const Selected& selected, OpCosts& costs);

}  // namespace borescope
