#include "borescope/analysis/measures/stacks/stack_options.h"

#include "borescope/analysis/core/param_specs.h"

namespace borescope::internal {

StackCut StackCutOf(const Params& params) {
  return {params.Number(kDepthParam), params.Share(kMinShareParam)};
}

}  // namespace borescope::internal
