// Options of verbs that show trees of stacks.
#pragma once

#include "borescope/analysis/core/params.h"
#include "borescope/analysis/measures/stacks/stack_tree.h"

namespace borescope::internal {

// What --depth and --min-share ask for.
StackCut StackCutOf(const Params& params);

}  // namespace borescope::internal
