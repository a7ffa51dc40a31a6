// The clock of every record: nanoseconds of CLOCK_MONOTONIC, which all processes of a machine
// share.
#pragma once

#include <cstdint>
#include <ctime>

namespace borescope::inject {

inline uint64_t Nanoseconds(clockid_t clock) {
  timespec now;
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

inline uint64_t Now() { return Nanoseconds(CLOCK_MONOTONIC); }

}  // namespace borescope::inject
