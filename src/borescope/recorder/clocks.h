// The clocks of a recording.
#pragma once

#include <cstdint>

namespace borescope::internal {

// Nanoseconds of CLOCK_MONOTONIC, by which all records of a machine are timed.
uint64_t MonotonicNow();

// One instant by three clocks; off by at most `half_width_ns`.
struct ClockReading {
  uint64_t mono_ns = 0;
  uint64_t real_ns = 0;
  uint64_t boot_ns = 0;
  uint64_t half_width_ns = 0;
};
ClockReading ReadClocks();

}  // namespace borescope::internal
