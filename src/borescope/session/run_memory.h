// How many files of a run may be in memory at once. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "borescope/base/result.h"
#include "borescope/session/run_inputs.h"

namespace borescope {

// As many as there are threads, and fewer where the estimate of what each takes once it is read
// says that they would not stay below `memory_limit` bytes (0 = none). kInvalidArgument names the
// largest where that alone would not.
Result<size_t> FilesInFlight(std::span<const InputFile> files, int threads, uint64_t memory_limit);

}  // namespace borescope
