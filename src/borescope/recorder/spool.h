// A run that is recorded into a faster place, such as memory, and moved to its own afterwards.
#pragma once

#include <string>

#include "borescope/base/result.h"

namespace borescope::internal {

// Makes a folder for the run `folder` in `spool`, and `folder` a link to it, so that everything
// that takes the run finds it meanwhile. Returns its absolute path. kIo if either cannot be made.
// REQUIRES: nothing is called `folder`.
Result<std::string> MakeSpool(const std::string& folder, const std::string& spool);

// Makes `folder` what the place in the spool holds, and removes that. If it fails, all is still
// there and `folder` still a link to it: kIo.
Result<void> MoveFromSpool(const std::string& place, const std::string& folder);

// Removes both, of a run that has not begun.
void RemoveSpool(const std::string& place, const std::string& folder);

}  // namespace borescope::internal
