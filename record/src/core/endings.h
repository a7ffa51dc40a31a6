// Ranges that may end on another thread, and whose end the rules want to see.
#pragma once

#include <cstdint>

namespace borescope::inject {

// False where there is no place left: the end then stops nothing.
bool AwaitEnd(uint64_t id);

// Whether the end of this range was awaited, which it is not any more.
bool TakeEnd(uint64_t id);

}  // namespace borescope::inject
