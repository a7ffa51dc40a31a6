// The system's part in keeping --memory-limit.
#pragma once

#include <cstdint>

namespace borescope::cli {

// From the first call on, the system refuses memory once the program has a sixteenth more than
// `bytes` beyond what it had then. The library ends loading at `bytes`, but looks only between
// pieces of its work, and not while results are made and written.
void RefuseMemoryBeyond(uint64_t bytes);

}  // namespace borescope::cli
