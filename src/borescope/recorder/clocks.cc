#include "borescope/recorder/clocks.h"

#include <ctime>

namespace borescope::internal {
namespace {

uint64_t Nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
  return static_cast<uint64_t>(now.tv_sec) * kNanosecondsPerSecond +
         static_cast<uint64_t>(now.tv_nsec);
}

ClockReading ReadOnce() {
  const uint64_t before = MonotonicNow();
  const uint64_t real = Nanoseconds(CLOCK_REALTIME);
  const uint64_t boot = Nanoseconds(CLOCK_BOOTTIME);
  const uint64_t half = (MonotonicNow() - before) / 2;
  return {before + half, real, boot, half + 1};
}

}  // namespace

uint64_t MonotonicNow() { return Nanoseconds(CLOCK_MONOTONIC); }

// The tightest of some: another program may have run between the readings of one.
ClockReading ReadClocks() {
  constexpr int kReadings = 16;
  ClockReading best = ReadOnce();
  for (int i = 1; i < kReadings; ++i) {
    const ClockReading reading = ReadOnce();
    if (reading.half_width_ns < best.half_width_ns) best = reading;
  }
  return best;
}

}  // namespace borescope::internal
