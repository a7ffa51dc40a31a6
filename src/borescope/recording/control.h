// How the page of control changes, for the launcher and for programs: starts count, and programs
// record while there is one that no stop has answered. Needs the C library alone.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

#include "borescope/recording/log_format.h"

namespace borescope::recording {

// One more start. Returns how many there were.
inline uint32_t AddStart(Control& page) {
  return __atomic_fetch_add(&page.nested_starts, 1, __ATOMIC_SEQ_CST);
}

// One less, but never below none. Returns how many there were.
inline uint32_t AddStop(Control& page) {
  uint32_t starts = __atomic_load_n(&page.nested_starts, __ATOMIC_SEQ_CST);
  while (starts > 0 && !__atomic_compare_exchange_n(&page.nested_starts, &starts, starts - 1, false,
                                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return starts;
}

// Lets programs record or not, as the number of starts says, and wakes whoever waits for a change.
// Of several processes that do so at a time, each looks again after it wrote, so that the last one
// wrote what the last number says. Not forever: a page may be in bad hands.
inline void ApplyStarts(Control& page, uint64_t now_ns) {
  constexpr int kMostTries = 1000;
  uint32_t starts = 0;
  for (int tries = 0; tries < kMostTries; ++tries) {
    starts = __atomic_load_n(&page.nested_starts, __ATOMIC_SEQ_CST);
    __atomic_store_n(&page.is_recording, starts != 0 ? 1 : 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&page.nested_starts, __ATOMIC_SEQ_CST) == starts) break;
  }
  __atomic_store_n(&page.changed_ns, now_ns, __ATOMIC_RELAXED);
  __atomic_fetch_add(&page.generation, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &page.generation, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace borescope::recording
