// Ranges that may end on another thread, and whose end the rules want to see. A child made by fork
// waits for none that its parent began.
#pragma once

#include <cstdint>

namespace borescope::inject {

// False where there is no place left: the end is then not seen.
bool AwaitEnd(uint64_t id);

// Whether the end of this range was awaited, which it is not any more.
bool TakeEnd(uint64_t id);

}  // namespace borescope::inject
