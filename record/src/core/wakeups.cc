#include "core/wakeups.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace borescope::inject {

void SleepOn(std::atomic<uint32_t>* word, uint32_t seen, uint64_t ns) {
  const timespec time = {static_cast<time_t>(ns / 1'000'000'000),
                         static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &time, nullptr, 0);
}

void Wake(std::atomic<uint32_t>* word) {
  word->fetch_add(1);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace borescope::inject
