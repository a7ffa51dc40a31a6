// Signals and the threads of the launcher.
#pragma once

#include <pthread.h>

#include <csignal>

namespace borescope::internal {

// For threads of our own: signals are for the thread that waits for the program.
inline void BlockAllSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace borescope::internal
