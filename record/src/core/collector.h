// The thread that fetches device records from a vendor's library, and what switches that library on
// and off with the recording.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "core/flush_requests.h"
#include "core/followers.h"

namespace borescope::inject {

// What a collector does with the library.
struct CollectorCalls {
  // Starts or stops the collection. On any thread, but never on two at once.
  void (*switch_to)(bool is_on);
  // In turns, on our thread: has what has ended written to the log.
  void (*fetch)();
  // The same, for somebody who waits for it: once it returns, the records are in the log.
  void (*fetch_all)();
};

// One for each library, for the life of the process. A child made by fork has neither our thread
// nor a device: there it does nothing.
class Collector {
 public:
  constexpr explicit Collector(const CollectorCalls& calls) : calls_(calls) {}
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Once, when the library is set up: starts our thread, and switches on where the run records.
  // `follow` passes its argument on to FollowAtOnce. False where no thread can be had: nothing is
  // then collected.
  bool Begin(Follow follow);

  // Whether it has begun in this process, and has not ended.
  bool IsHere() const;
  bool is_on() const { return is_on_.load(); }

  // What is launched after a start is recorded, so it is switched on here; the rest our thread
  // does.
  void FollowAtOnce(bool is_recording);

  // Has our thread fetch all, and waits for it, at most two seconds: a library that hangs is
  // abandoned.
  void FetchOnThread();

  // Nothing is switched from now on, and our thread ends.
  void End();

  // The same; before it ends, our thread switches off and fetches the rest. Waits for it, at most
  // two seconds.
  void EndOnThread();

  // Sleeps until our thread has something to do, at most so long.
  void Sleep(uint64_t ns);

 private:
  static void* RunThread(void* collector);
  void Run();
  void Turn(uint64_t* fetched_ns);
  void AnswerWaiting();
  void FollowRequests();
  void Switch(bool is_wanted);
  void EndSwitching();

  CollectorCalls calls_;
  std::atomic<uint32_t> wakes_ = 0;      // rises with every reason to look; our thread sleeps on it
  std::atomic<uint32_t> requested_ = 0;  // fetches that somebody waits for
  std::atomic<uint32_t> answered_ = 0;   // and the last one that is done; they sleep on `turns_`
  std::atomic<uint32_t> turns_ = 0;
  std::atomic<bool> is_on_ = false;
  std::atomic<bool> is_switching_ = false;  // a thread switches
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> ends_on_thread_ = false;
  std::atomic<bool> has_ended_ = false;
  std::atomic<pid_t> begun_in_ = 0;  // 0: it has not, or has ended
  FlushRequests requests_;           // our thread's alone, once it runs
};

}  // namespace borescope::inject
