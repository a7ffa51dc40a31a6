// Progress of work that loads one run after another.
#pragma once

#include <span>

#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

// All of a run, nothing of it done.
Progress ProgressAtStart(std::span<const InputFile> files);

// The options of one run of a comparison, whose progress is told as that of both: `before` is done
// already, `after` comes later. Calls options.progress, which must outlive what is returned.
RunOptions OptionsOfPart(const RunOptions& options, const Progress& before, const Progress& after);

}  // namespace borescope::internal
