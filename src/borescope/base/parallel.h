// ParallelFor: runs body(0) ... body(count - 1) on up to `threads` threads. Order of execution is
// undefined, so a body writes only to what belongs to its index. One thread runs everything inline.
// An exception (of a library: ours throw none, but memory can run out) ends that thread's work and
// is thrown again to the caller once all threads have ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace borescope {

// The number of threads to use when the user names none.
inline int DefaultThreads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

template <class Body>
void ParallelFor(size_t count, int threads, const Body& body) {
  const size_t workers = std::min(count, static_cast<size_t>(std::max(1, threads)));
  if (workers <= 1) {
    for (size_t i = 0; i < count; ++i) {
      body(i);
    }
    return;
  }
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto work = [&] {
    try {
      for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
        body(i);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      failure = failure == nullptr ? std::current_exception() : failure;
    }
  };
  {
    std::vector<std::jthread> pool;
    for (size_t w = 1; w < workers; ++w) {
      pool.emplace_back(work);
    }
    work();
  }
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

}  // namespace borescope
