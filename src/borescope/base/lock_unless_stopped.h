// Waiting for another thread, for as long as this one is not to stop.
#pragma once

#include <chrono>
#include <mutex>

#include "borescope/base/stop.h"

namespace borescope::internal {

inline std::unique_lock<std::timed_mutex> LockUnlessStopped(std::timed_mutex& mutex) {
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(kBetweenLooks)) {
    CheckStop();
  }
  return lock;
}

}  // namespace borescope::internal
