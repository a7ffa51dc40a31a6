// Names of ranges and marks that came while a rule waits for another one, on the page of the run:
// so that its end can say what there was instead.
#pragma once

#include <cstddef>

namespace borescope::inject {

// Once for each name, and for the first few alone.
void NoteSeen(const char* text, size_t length);

}  // namespace borescope::inject
