#include "core/thread.h"

#include <pthread.h>
#include <signal.h>

namespace borescope::inject {

// A new thread has the mask of the one that makes it.
bool StartThread(void* (*run)(void*), void* argument) {
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread;
  const bool is_started = pthread_create(&thread, nullptr, run, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (is_started) pthread_detach(thread);
  return is_started;
}

}  // namespace borescope::inject
