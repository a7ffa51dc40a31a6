#include "core/collector.h"

#include <pthread.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files.h"
#include "core/state.h"
#include "core/thread.h"
#include "core/wakeups.h"
#include "core/writer.h"

namespace borescope::inject {

bool Collector::Begin(Follow follow) {
  Switch(IsRecording());
  begun_in_.store(getpid());
  // Here, so that whoever sees what the program does next is heard.
  requests_.Begin();
  if (StartThread(RunThread, this)) {
    AddFollower(follow);
    return true;
  }
  requests_.End();
  begun_in_.store(0);
  Switch(false);
  return false;
}

bool Collector::IsHere() const { return begun_in_.load() != 0 && begun_in_.load() == getpid(); }

void Collector::FollowAtOnce(bool is_recording) {
  if (!IsHere()) return;
  const QuietSection quiet;
  if (is_recording) Switch(true);
  Wake(&wakes_);
}

// Two threads never switch at a time, and none waits for the other, which may hold a lock of the
// library: who comes second leaves it, and our thread looks again.
void Collector::Switch(bool is_wanted) {
  if (is_wanted == is_on_.load() || is_switching_.exchange(true)) return;
  if (is_wanted != is_on_.load()) {
    calls_.switch_to(is_wanted);
    is_on_.store(is_wanted);
  }
  is_switching_.store(false);
}

void Collector::FetchOnThread() {
  if (!IsHere()) return;
  const uint32_t request = requested_.fetch_add(1) + 1;
  Wake(&wakes_);
  WaitUntil(&turns_, [&] { return answered_.load() >= request || has_ended_.load(); });
}

void Collector::AnswerWaiting() {
  const uint32_t request = requested_.load();
  if (request == answered_.load()) return;
  calls_.fetch_all();
  answered_.store(request);
  Wake(&turns_);
}

// Fetches what a request from outside asks for, and says so.
void Collector::FollowRequests() {
  if (!requests_.IsAsked()) return;
  calls_.fetch_all();
  requests_.Answer();
}

void Collector::Turn(uint64_t* fetched_ns) {
  const uint64_t period = uint64_t{g_options.flush_ms} * 1'000'000;
  const uint32_t seen = wakes_.load();
  AnswerWaiting();
  Switch(IsRecording());
  FollowRequests();
  const uint64_t now = Now();
  if (now - *fetched_ns >= period) {
    *fetched_ns = now;
    if (is_on_.load()) calls_.fetch();
  }
  if (!is_ending_.load()) SleepOn(&wakes_, seen, period < kFollowNs ? period : kFollowNs);
}

// So that a kill loses no more than what ran in the last period.
void Collector::Run() {
  uint64_t fetched = Now();
  while (!is_ending_.load()) Turn(&fetched);
  if (ends_on_thread_.load()) {
    if (is_on_.load()) calls_.switch_to(false);
    is_on_.store(false);
    calls_.fetch_all();
  }
  requests_.End();
  has_ended_.store(true);
  Wake(&turns_);
}

void* Collector::RunThread(void* collector) {
  pthread_setname_np(pthread_self(), "borescope");
  static_cast<Collector*>(collector)->Run();
  return nullptr;
}

// Waits for a thread that just switches, and has nobody switch any more: what is switched on after
// the end calls into a library that has ended. Not forever: that thread may wait for ours.
void Collector::EndSwitching() {
  const uint64_t begin = Now();
  while (is_switching_.exchange(true) && Now() - begin < kWaitDeadlineNs) Sleep(1'000'000);
}

void Collector::End() {
  const bool may_switch = IsHere();
  begun_in_.store(0);
  is_ending_.store(true);
  Wake(&wakes_);
  if (may_switch) EndSwitching();
}

void Collector::EndOnThread() {
  if (!IsHere()) return;
  ends_on_thread_.store(true);
  EndSwitching();
  begun_in_.store(0);
  is_ending_.store(true);
  Wake(&wakes_);
  WaitUntil(&turns_, [&] { return has_ended_.load(); });
}

void Collector::Sleep(uint64_t ns) { SleepOn(&wakes_, wakes_.load(), ns); }

}  // namespace borescope::inject
