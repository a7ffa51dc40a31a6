#include "borescope/analysis/stack_options.h"

#include "borescope/analysis/param_specs.h"

namespace borescope {

StackCut StackCutOf(const Params& params) {
  return {params.Number(kDepthParam), params.Share(kMinShareParam)};
}

}  // namespace borescope
