// How many files of a run may be in memory at once. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"

namespace borescope::internal {

// As many as there are threads, and fewer where the estimate of what each takes once it is read
// says that they would not stay below `memory_limit` bytes (0 = none). `questions` is what is asked
// of each file. kInvalidArgument names the largest file where that alone would not.
Result<size_t> FilesInFlight(std::span<const InputFile> files,
                             std::span<const AnalysisSpec* const> questions, int threads,
                             uint64_t memory_limit);

}  // namespace borescope::internal
