// The system's part in keeping --memory-limit.
#pragma once

#include <cstdint>

#include "borescope/cli/options/options.h"
#include "borescope/cli/usage_error.h"

namespace borescope::cli {

// From the first call on, the system refuses memory once the program has a sixteenth more than
// `bytes` beyond what it had then. The library ends loading at `bytes`, but looks only between
// pieces of its work, and not while results are made and written.
void RefuseMemoryBeyond(uint64_t bytes);

// The same for what --memory-limit says, which is returned; 0 without it. Errors are about usage.
Result<uint64_t> KeepMemoryLimit(const RawOptions& raw);

}  // namespace borescope::cli
