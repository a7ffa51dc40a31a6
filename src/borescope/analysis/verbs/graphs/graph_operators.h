// The table graph_operators: how the kernels of graphs got operators from captures in other files.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"

namespace borescope::internal {

// `launches` with selected work. Without captures the table has no rows.
Table GraphOperators(const RankView& view, const GraphLaunches& launches);

}  // namespace borescope::internal
