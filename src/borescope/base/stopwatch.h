// Stopwatch: how long something took, on a clock that never goes back. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace borescope::internal {

class Stopwatch {
 public:
  int64_t elapsed_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_ = Clock::now();
};

}  // namespace borescope::internal
