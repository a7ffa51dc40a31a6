// ParallelFor: runs body(0) ... body(count - 1) on up to `threads` threads. Order of execution is
// undefined, so a body writes only to what belongs to its index. One thread runs everything inline;
// if the system allows fewer threads, these do all the work. An exception (of a library, or of
// CheckStop, which is called before each body) ends that thread's work and is rethrown to the
// caller after all threads have ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "borescope/base/stop.h"

namespace borescope::internal {

// The default number of threads.
inline int DefaultThreads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Starts as many of `count` threads as the system allows.
template <class Work>
std::vector<std::jthread> StartThreads(size_t count, const Work& work) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  try {
    while (threads.size() < count) {
      threads.emplace_back(work);
    }
  } catch (const std::system_error&) {
    return threads;  // a limit on threads or memory
  }
  return threads;
}

template <class Body>
void ParallelFor(size_t count, int threads, const Body& body) {
  const size_t workers = std::min(count, static_cast<size_t>(std::max(1, threads)));
  if (workers <= 1) {
    for (size_t i = 0; i < count; ++i) {
      CheckStop();
      body(i);
    }
    return;
  }
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const StopScope* const stop = CurrentStopScope();
  auto work = [&] {
    const InheritedStopScope inherited(stop);
    try {
      for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
        CheckStop();
        body(i);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      failure = failure == nullptr ? std::current_exception() : failure;
    }
  };
  {
    const std::vector<std::jthread> others = StartThreads(workers - 1, work);
    work();
  }
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

}  // namespace borescope::internal
