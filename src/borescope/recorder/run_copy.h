// A copy of a run whose programs go on.
#pragma once

#include <string>

#include "borescope/base/result.h"

namespace borescope::internal {

// Copies the logs of a run into a new one, `output`, which is paused. Of each thread, what it
// recorded last before this call is in the copy without a gap; chunks that began later are left
// out, and of a ring those that were overwritten meanwhile. kInvalidArgument if `folder` is no run
// or `output` exists, kIo if either cannot be read or written.
Result<void> CopyRun(const std::string& folder, const std::string& output);

}  // namespace borescope::internal
