// Functions whose place a preloaded library takes.
#pragma once

namespace borescope::inject {

// The program's own function: what comes after us, or what a library has that was loaded for
// another library alone, as those of Python packages are; a part of that library's path says which.
// A null pointer where there is none.
void* FindNextFunction(const char* part, const char* name);

}  // namespace borescope::inject
