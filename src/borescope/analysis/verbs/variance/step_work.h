// How much matrix work each step is. Internal to variance/.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/variance/step_spans.h"

namespace borescope::internal {

// Per span: the FLOPs of the operators called in the step, as far as they have a model
// (docs/how-it-works/flops.md); all kMissing where none has. O(rows log rows).
Result<std::vector<int64_t>> WorkOfSteps(const RankView& view, const Selected& selected,
                                         const StepSpans& spans);

}  // namespace borescope::internal
