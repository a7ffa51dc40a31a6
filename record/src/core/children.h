// Which programs of a run are recorded, by their names.
#pragma once

#include <cstdint>

namespace borescope::inject {

// Whether a pattern fits the name of this program: of its file, as it was called, or of its script.
bool HasName(const char* pattern);

// Whether this is the program that the launcher started, or one that took its place, rather than
// one that the program started.
bool IsFirstProgram(uint32_t launcher_pid);

}  // namespace borescope::inject
