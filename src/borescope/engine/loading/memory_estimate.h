// How many files of a run may be in memory at once. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/memory_limit.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"

namespace borescope::internal {

// What loading may take.
struct MemoryRoom {
  uint64_t limit = 0;       // bytes of memory; 0: any
  uint64_t disk_bytes = 0;  // of temporary files, for columns beyond the limit; 0: there are none
};

// As many as there are threads, and fewer where the estimate of what each takes once it is read
// says that they would not stay below the limit. `questions` is what each file has to answer.
// kInvalidArgument names the largest file where even the least that such a file may take is more
// than there is room; whether the others stay below is seen while they are loaded (MemoryLimit).
Result<size_t> FilesInFlight(std::span<const InputFile> files,
                             std::span<const AnalysisSpec* const> questions, int threads,
                             const MemoryRoom& room);

// Why loading ended: `file` reached `limit` after `done_bytes`.
Error MemoryLimitReached(const InputFile& file, const MemoryLimit& limit, uint64_t done_bytes);

}  // namespace borescope::internal
