#include "core/control.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "core/clock.h"
#include "core/files.h"
#include "core/state.h"
#include "core/writer.h"

namespace borescope::inject {

namespace {

using recording::RecordType;
using recording::StateKind;

void WriteState(StateKind state) {
  const uint64_t body[] = {Now()};
  Write(RecordType::kState, static_cast<uint32_t>(state), body);
}

// Wakes the launcher and whoever else waits for a change.
void Announce() {
  const QuietSection quiet;
  __atomic_store_n(&g_control->changed_ns, Now(), __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_control->generation, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &g_control->generation, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Whether this stop was the last of as many as there were starts.
bool CountDown() {
  uint32_t starts = __atomic_load_n(&g_control->nested_starts, __ATOMIC_ACQUIRE);
  while (starts > 0) {
    if (__atomic_compare_exchange_n(&g_control->nested_starts, &starts, starts - 1, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      return starts == 1;
    }
  }
  return false;
}

}  // namespace

void StartRecording() {
  if (!IsEnabled()) return;
  __atomic_fetch_add(&g_control->nested_starts, 1, __ATOMIC_ACQ_REL);
  if (__atomic_exchange_n(&g_control->is_recording, 1, __ATOMIC_ACQ_REL) == 0) {
    Announce();
    WriteState(StateKind::kStarted);
  }
}

void StopRecording() {
  if (!IsEnabled() || !CountDown()) return;
  WriteState(StateKind::kStopped);
  __atomic_store_n(&g_control->is_recording, 0, __ATOMIC_RELEASE);
  // A start of another process may have come in between.
  if (__atomic_load_n(&g_control->nested_starts, __ATOMIC_ACQUIRE) != 0) {
    __atomic_store_n(&g_control->is_recording, 1, __ATOMIC_RELEASE);
  }
  Announce();
}

}  // namespace borescope::inject
