// Options of verbs that show trees of stacks.
#pragma once

#include "borescope/analysis/params.h"
#include "borescope/analysis/stack_tree.h"

namespace borescope {

// What --depth and --min-share ask for.
StackCut StackCutOf(const Params& params);

}  // namespace borescope
