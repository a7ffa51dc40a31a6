#include "cuda/flusher.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdlib>

#include "core/clock.h"
#include "core/files.h"
#include "core/process.h"
#include "core/thread.h"
#include "core/writer.h"
#include "cuda/buffers.h"
#include "cuda/session.h"

namespace borescope::inject::cuda {

namespace {

constexpr uint64_t kDeadlineNs = 2'000'000'000;
// How soon the page of control is followed, however seldom records are fetched.
constexpr uint64_t kFollowNs = 100'000'000;

Session session;
std::atomic<uint32_t> wakes;      // rises with every reason to look; the flusher sleeps on it
std::atomic<uint32_t> requested;  // flushes that somebody waits for
std::atomic<uint32_t> answered;   // and how many of them are done; they sleep on it
std::atomic<bool> is_exiting;
std::atomic<bool> has_ended;  // CUPTI is not called again
std::atomic<pid_t> started_in;
// The flusher's alone.
uint32_t followed_request;
recording::FlusherSlot* own_slot;

void Wait(std::atomic<uint32_t>* word, uint32_t seen, uint64_t ns) {
  const timespec time = {static_cast<time_t>(ns / 1'000'000'000),
                         static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &time, nullptr, 0);
}

void Wake(std::atomic<uint32_t>* word) {
  word->fetch_add(1);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// By which those who ask for a flush know that there is somebody to wait for. Where all places are
// taken, requests are followed all the same.
recording::FlusherSlot* TakeSlot() {
  for (recording::FlusherSlot& slot : g_control->flushers) {
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&slot.pid, &none, recording::kSlotBeingTaken, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      continue;
    }
    slot.start_time = ReadStartTime();
    __atomic_store_n(&slot.answered, followed_request, __ATOMIC_RELEASE);
    __atomic_store_n(&slot.pid, static_cast<uint32_t>(getpid()), __ATOMIC_RELEASE);
    return &slot;
  }
  return nullptr;
}

// Fetches what a request from outside asks for, and says so.
void FollowRequests() {
  const uint32_t request = __atomic_load_n(&g_control->flush_requests, __ATOMIC_ACQUIRE);
  if (request == followed_request) return;
  followed_request = request;
  if (session.is_on()) session.Flush(true);
  session.Drain();
  if (own_slot != nullptr) __atomic_store_n(&own_slot->answered, request, __ATOMIC_RELEASE);
}

// Follows the page that starts and stops; what had begun before a stop is fetched.
void FollowControl() {
  const bool is_wanted = IsRecording();
  if (is_wanted == session.is_on()) return;
  session.Switch(is_wanted);
  if (!is_wanted) session.Flush(true);
}

void Answer(uint32_t request) {
  session.Flush(true);
  session.Drain();
  answered.store(request - 1);
  Wake(&answered);
}

void End() {
  if (session.is_on()) session.Flush(true);
  session.Drain();
  if (BuffersOut() != 0) {
    WriteTrouble(recording::StateKind::kGap,
                 "buffers were not returned: another profiler took its place, or a flush failed",
                 kSuccess);
  }
  if (own_slot != nullptr) __atomic_store_n(&own_slot->pid, 0, __ATOMIC_RELEASE);
  has_ended.store(true);
  Wake(&answered);
}

// Flushes in turns; buffers that CUPTI returns by itself are read when they come.
void Loop() {
  const uint64_t period = uint64_t{g_options.flush_ms} * 1'000'000;
  uint64_t flushed = Now();
  followed_request = __atomic_load_n(&g_control->flush_requests, __ATOMIC_ACQUIRE);
  own_slot = TakeSlot();
  while (!is_exiting.load()) {
    const uint32_t seen = wakes.load();
    session.Drain();
    const uint32_t request = requested.load();
    if (request != answered.load()) Answer(request);
    FollowControl();
    FollowRequests();
    const uint64_t now = Now();
    if (session.is_on() && now - flushed >= period) {
      session.Flush(false);
      flushed = now;
      continue;
    }
    const uint64_t rest = now - flushed >= period ? period : period - (now - flushed);
    if (!is_exiting.load()) Wait(&wakes, seen, rest < kFollowNs ? rest : kFollowNs);
  }
  End();
}

void* Run(void*) {
  t_thread.chunk_kind = static_cast<uint32_t>(recording::ChunkKind::kActivity);
  pthread_setname_np(pthread_self(), "borescope");
  Loop();
  return nullptr;
}

bool IsFlusherHere() { return started_in.load() == getpid() && !has_ended.load(); }

// Waits until a condition holds, at most until the deadline: a flush that hangs is abandoned.
template <typename Condition>
void WaitUntil(const Condition& holds) {
  const uint64_t begin = Now();
  for (uint64_t passed = 0; passed < kDeadlineNs; passed = Now() - begin) {
    const uint32_t seen = answered.load();
    if (holds()) return;
    Wait(&answered, seen, kDeadlineNs - passed);
  }
}

// Registered when the driver begins, so that it runs before the driver's own functions at exit.
void EndAtExit() {
  if (!IsFlusherHere()) return;
  const QuietSection quiet;
  is_exiting.store(true);
  Wake(&wakes);
  WaitUntil([] { return has_ended.load(); });
}

}  // namespace

void StartFlusher() {
  const QuietSection quiet;
  // A child made by fork has no flusher; the driver does not work there either.
  pid_t none = 0;
  if (!started_in.compare_exchange_strong(none, getpid())) return;
  if (!session.Begin()) {
    has_ended.store(true);
    return;
  }
  FollowControl();
  if (StartThread(Run)) {
    atexit(EndAtExit);
  } else {
    session.Switch(false);
    has_ended.store(true);
  }
}

void WakeFlusher() { Wake(&wakes); }

void FlushDevice() {
  if (!IsFlusherHere()) return;
  const QuietSection quiet;
  const uint32_t request = requested.fetch_add(1) + 1;
  Wake(&wakes);
  WaitUntil([request] { return answered.load() >= request || has_ended.load(); });
}

}  // namespace borescope::inject::cuda
