// Options of verbs that show trees of stacks.
#pragma once

#include "borescope/analysis/params.h"
#include "borescope/analysis/stack_tree.h"
#include "borescope/base/result.h"

namespace borescope {

// What --depth and --min-share ask for; kInvalidArgument when they are no number or no share.
Result<StackCut> StackCutOf(const Params& params);

}  // namespace borescope
