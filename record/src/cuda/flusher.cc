#include "cuda/flusher.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "core/clock.h"
#include "core/files.h"
#include "core/flush_requests.h"
#include "core/followers.h"
#include "core/process.h"
#include "core/thread.h"
#include "core/wakeups.h"
#include "core/writer.h"
#include "cuda/buffers.h"
#include "cuda/session.h"

namespace borescope::inject::cuda {

namespace {

Session session;
std::atomic<uint32_t> wakes;      // rises with every reason to look; the flusher sleeps on it
std::atomic<uint32_t> requested;  // flushes that somebody waits for
std::atomic<uint32_t> answered;   // and how many of them are done; they sleep on it
std::atomic<bool> is_exiting;
std::atomic<bool> has_ended;  // CUPTI is not called again
std::atomic<pid_t> started_in;
std::atomic<bool> is_switching;       // a thread enables or disables what CUPTI collects
std::atomic<bool> is_flushing;        // in turns
std::atomic<uint64_t> last_returned;  // when CUPTI returned a buffer without a flush
std::atomic<bool> is_taking_back;     // asked for, and not done
FlushRequests requests;               // the flusher's alone, once it runs

// Fetches what a request from outside asks for, and says so.
void FollowRequests() {
  if (!requests.IsAsked()) return;
  if (session.is_on()) session.Flush(true);
  session.Drain();
  requests.Answer();
}

// Whether what CUPTI collects changed. Two threads never change it at a time, and none waits for
// the other, which may hold a lock of CUPTI: who comes second leaves it, and the flusher looks
// again.
bool Switch(bool is_on) {
  if (is_on == session.is_on() || is_switching.exchange(true)) return false;
  const bool is_changed = is_on != session.is_on();
  if (is_changed) session.Switch(is_on);
  is_switching.store(false);
  return is_changed;
}

// Where a thread just switches, the flusher looks again.
void FollowTakingBack() {
  if (!is_taking_back.load() || is_switching.exchange(true)) return;
  if (is_taking_back.exchange(false)) session.TakeBack();
  is_switching.store(false);
}

// Follows the page that starts and stops; what had begun before a stop is fetched.
void FollowControl() {
  const bool is_wanted = IsRecording();
  if (Switch(is_wanted) && !is_wanted) session.Flush(true);
}

void Answer(uint32_t request) {
  session.Flush(true);
  session.Drain();
  answered.store(request - 1);
  Wake(&answered);
}

// Waits for a thread that just switches, and has nobody switch any more: nothing is to be enabled
// after the end. Not forever: that thread may wait for whoever waits for us.
void EndSwitching() {
  const uint64_t begin = Now();
  while (is_switching.exchange(true) && Now() - begin < kWaitDeadlineNs / 2) {
    SleepOn(&wakes, wakes.load(), 1'000'000);
  }
}

void End() {
  EndSwitching();
  if (session.is_on()) session.Flush(true);
  session.Drain();
  if (BuffersOut() != 0) {
    WriteTrouble(recording::StateKind::kGap,
                 "buffers were not returned: another profiler took its place, or a flush failed",
                 kSuccess);
  }
  requests.End();
  has_ended.store(true);
  Wake(&answered);
}

// Whether buffers come back so quickly that none is older than a period: what a kill loses is then
// no more than with a flush, in which CUPTI holds up the threads that launch.
bool IsKeptUp(uint64_t now, uint64_t period) {
  const uint64_t oldest = OldestTaken();
  const uint64_t returned = last_returned.load(std::memory_order_relaxed);
  return oldest != 0 && now < oldest + period && now < returned + period;
}

// Flushes in turns; buffers that CUPTI returns by itself are read when they come.
void Loop() {
  const uint64_t period = uint64_t{g_options.flush_ms} * 1'000'000;
  uint64_t flushed = Now();
  while (!is_exiting.load()) {
    const uint32_t seen = wakes.load();
    session.Drain();
    const uint32_t request = requested.load();
    if (request != answered.load()) Answer(request);
    FollowTakingBack();
    FollowControl();
    FollowRequests();
    const uint64_t now = Now();
    if (session.is_on() && now - flushed >= period) {
      flushed = now;
      if (IsKeptUp(now, period)) continue;
      is_flushing.store(true);
      session.Flush(false);
      is_flushing.store(false);
      continue;
    }
    const uint64_t rest = now - flushed >= period ? period : period - (now - flushed);
    if (!is_exiting.load()) SleepOn(&wakes, seen, rest < kFollowNs ? rest : kFollowNs);
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

// What is launched after a start is recorded, and so it is switched on here; a stop also fetches,
// which the flusher does.
void FollowAtOnce(bool is_recording) {
  if (!IsFlusherHere()) return;
  const QuietSection quiet;
  if (is_recording) Switch(true);
  Wake(&wakes);
}

// Registered when the driver begins, so that it runs before the driver's own functions at exit.
void EndAtExit() {
  if (!IsFlusherHere()) return;
  const QuietSection quiet;
  is_exiting.store(true);
  Wake(&wakes);
  WaitUntil(&answered, [] { return has_ended.load(); });
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
  if (g_options.is_warm && !IsRecording()) {
    // The first collection takes a driver long to set up, and a later one does not.
    Switch(true);
  }
  FollowControl();
  // Here, so that whoever sees what the program does next is heard.
  requests.Begin();
  if (StartThread(Run)) {
    AddFollower(FollowAtOnce);
    atexit(EndAtExit);
  } else {
    WriteTrouble(recording::StateKind::kBackendMissing, "no thread can be had", kSuccess);
    requests.End();
    session.Switch(false);
    has_ended.store(true);
  }
}

void WakeFlusher() {
  if (!is_flushing.load()) last_returned.store(Now(), std::memory_order_relaxed);
  Wake(&wakes);
}

void FetchDevice() {
  if (!IsFlusherHere() || !session.is_on() || session.is_shared()) return;
  const QuietSection quiet;
  session.Flush(false);
}

void DeviceIsTaken() {
  if (!IsFlusherHere() || !session.is_on() || session.is_shared()) return;
  const QuietSection quiet;
  session.Flush(false);
  WriteTrouble(recording::StateKind::kGap,
               "another profiler of the program takes its buffers: device work may be missing from "
               "then on",
               kSuccess);
}

void TakeDeviceBack() {
  if (!IsFlusherHere()) return;
  const QuietSection quiet;
  is_taking_back.store(true);
  FollowTakingBack();
  Wake(&wakes);
}

void FlushDevice() {
  if (!IsFlusherHere()) return;
  const QuietSection quiet;
  const uint32_t request = requested.fetch_add(1) + 1;
  Wake(&wakes);
  WaitUntil(&answered, [request] { return answered.load() >= request || has_ended.load(); });
}

}  // namespace borescope::inject::cuda
