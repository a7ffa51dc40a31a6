// Symbolic links on the way to an output: in a folder where all may write, such as /tmp, anybody
// can prepare the name that somebody else is about to write. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "borescope/base/result.h"

namespace borescope::internal {

// What a symbolic link says; nothing of anything else, and of what is not there. kIo if the system
// cannot tell.
Result<std::optional<std::filesystem::path>> WhatLinkSays(const std::filesystem::path& link);

// kIo, with the first such link, if a symbolic link that another user made in a folder where all
// may write is on the way to `path`, or is it: of a file that is about to be written, or of a
// folder that is about to be made or written into. Errors of the system are kIo, too.
Result<void> CheckNoForeignLink(const std::string& path);

}  // namespace borescope::internal
