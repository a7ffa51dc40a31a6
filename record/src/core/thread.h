// Threads of our own in the programs of others.
#pragma once

namespace borescope::inject {

// Starts a detached thread that runs `run`, and says whether it could. All signals are blocked in
// it: those of the program are for its own threads.
bool StartThread(void* (*run)(void*), void* argument = nullptr);

}  // namespace borescope::inject
