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

inline uint64_t LoadStarts(const Control& page) {
  return __atomic_load_n(&page.starts, __ATOMIC_SEQ_CST);
}

// On failure `word` is what is there now.
inline bool ReplaceStarts(Control& page, uint64_t& word, uint64_t next) {
  return __atomic_compare_exchange_n(&page.starts, &word, next, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

// The two halves of the word.
inline uint32_t CountOf(uint64_t word) { return static_cast<uint32_t>(word); }
inline uint16_t EpochOf(uint64_t word) { return static_cast<uint16_t>(word >> 32U); }

// One more start. Returns how many there were.
inline uint32_t AddStart(Control& page) {
  return CountOf(__atomic_fetch_add(&page.starts, 1, __ATOMIC_SEQ_CST));
}

// One less, but never below none. Returns how many there were.
inline uint32_t AddStop(Control& page) {
  uint64_t word = LoadStarts(page);
  while (CountOf(word) > 0 && !ReplaceStarts(page, word, word - 1)) {
  }
  return CountOf(word);
}

// The same within an epoch. False, and nothing is changed, where it is over, and for a stop also
// where nothing was started. `before`: how many starts there were.
inline bool AddStartIn(Control& page, uint16_t epoch, uint32_t& before) {
  uint64_t word = LoadStarts(page);
  while (EpochOf(word) == epoch) {
    before = CountOf(word);
    if (ReplaceStarts(page, word, word + 1)) return true;
  }
  return false;
}
inline bool AddStopIn(Control& page, uint16_t epoch, uint32_t& before) {
  uint64_t word = LoadStarts(page);
  while (EpochOf(word) == epoch && CountOf(word) > 0) {
    before = CountOf(word);
    if (ReplaceStarts(page, word, word - 1)) return true;
  }
  return false;
}

// No start is left, and the next epoch begins.
inline void EndStarts(Control& page) {
  uint64_t word = LoadStarts(page);
  while (!ReplaceStarts(page, word, ((word >> 32U) + 1) << 32U)) {
  }
}

// Lets programs record or not, as the number of starts says, and wakes whoever waits for a change.
// Of several processes that do so at a time, each looks again after it wrote, so that the last one
// wrote what the last number says. Not forever: a page may be in bad hands.
inline void ApplyStarts(Control& page, uint64_t now_ns) {
  constexpr int kMostTries = 1000;
  uint32_t starts = 0;
  for (int tries = 0; tries < kMostTries; ++tries) {
    starts = CountOf(LoadStarts(page));
    __atomic_store_n(&page.is_recording, starts != 0 ? 1 : 0, __ATOMIC_SEQ_CST);
    if (CountOf(LoadStarts(page)) == starts) break;
  }
  __atomic_store_n(&page.changed_ns, now_ns, __ATOMIC_RELAXED);
  __atomic_fetch_add(&page.generation, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &page.generation, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace borescope::recording
