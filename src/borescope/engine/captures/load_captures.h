// The captures of a recording's graphs, loaded with it.
#pragma once

#include "borescope/engine/loading/loaded_trace.h"

namespace borescope::internal {

// Looks for the graphs that `loaded` runs in the files of `input.captures`, and gives its kernels
// the operators found there. Files of other ranks, and files that cannot be read or capture
// nothing, are passed over; those for several ranks are loaded once (InputFile::capture_store); if
// the user named them and none captures a graph: kInvalidArgument, or why the first could not be
// read. Files that were not named are used only if they launch no graphs themselves and `loaded`
// captures none. What was found is counted in the diagnostics of the index.
Result<void> LoadCaptures(const InputFile& input, const LoadOptions& options, LoadedTrace& loaded);

}  // namespace borescope::internal
