// Links backward operators to the forward operators they belong to.
#pragma once

#include <vector>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// By autograd sequence number: a backward operator (Fwd thread id > 0) belongs to the forward
// operator with its number that starts last before it. Of nested backward rows with one number (the
// engine's wrapper and the function itself) only the outermost is linked.
ColumnData<ForwardBackwardLink> LinkForwardBackward(const Trace& trace, const CallTree& tree);

}  // namespace borescope::internal
