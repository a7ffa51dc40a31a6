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
// of each file. kInvalidArgument names the largest file where even the least that such a file may
// take is more; whether the others stay below is seen while they are loaded (MemoryLimit).
Result<size_t> FilesInFlight(std::span<const InputFile> files,
                             std::span<const AnalysisSpec* const> questions, int threads,
                             uint64_t memory_limit);

// Why loading ended: `file` reached `limit` after `done_bytes`, with `taken` bytes in memory.
Error MemoryLimitReached(const InputFile& file, uint64_t limit, uint64_t done_bytes,
                         uint64_t taken);

}  // namespace borescope::internal
