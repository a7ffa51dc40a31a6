// Threads that wait for each other by a word that rises (futex), without a lock that a fork could
// leave taken. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/clock.h"

namespace borescope::inject {

// Nobody of the program waits longer for ours: a library that hangs is abandoned.
inline constexpr uint64_t kWaitDeadlineNs = 2'000'000'000;
// How soon the page of control is followed, however seldom records are fetched.
inline constexpr uint64_t kFollowNs = 100'000'000;

// Until the word is woken, at most so long; not at all where it is no longer as it was seen.
void SleepOn(std::atomic<uint32_t>* word, uint32_t seen, uint64_t ns);
// Raises the word, and wakes all who sleep on it.
void Wake(std::atomic<uint32_t>* word);

// Until a condition holds, at most until the deadline. Who makes it hold wakes the word.
template <typename Condition>
void WaitUntil(std::atomic<uint32_t>* word, const Condition& holds) {
  const uint64_t begin = Now();
  for (uint64_t passed = 0; passed < kWaitDeadlineNs; passed = Now() - begin) {
    const uint32_t seen = word->load();
    if (holds()) return;
    SleepOn(word, seen, kWaitDeadlineNs - passed);
  }
}

}  // namespace borescope::inject
