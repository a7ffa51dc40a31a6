// Cooperative stops. Whoever works for a caller runs it as Stoppable with the caller's token; long
// loops call CheckStop, or CheckStopAt with their index. Once a stop is requested these leave by an
// exception, the only one of ours, which Stoppable turns into an Error: functions of any result can
// be left so, and objects on the way are destroyed as after any other exception. Threads of
// ParallelFor ask the tokens of the thread that started them.
//
// A limit of memory ends work in the same way (memory_limit.h).
//
// A check is needed where more than some milliseconds pass without one. It must not be called in a
// destructor, in a function that is noexcept, or in one that a C library calls: those ask
// IsStopRequested, and return.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "borescope/base/result.h"

namespace borescope::internal {

// Thrown by CheckStop; caught by Stoppable and WithinMemory alone.
struct StopRequested {};

class MemoryLimit;

// The token and the limit of memory that this thread asks until the scope ends, beside those of the
// scopes around it.
class StopScope {
 public:
  explicit StopScope(std::stop_token token, const MemoryLimit* memory = nullptr);
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope();

  bool is_stopped() const;
  // The limit of memory of this scope, else that of the scopes around it; nullptr without one.
  const MemoryLimit* memory() const;

 private:
  std::stop_token token_;
  const MemoryLimit* memory_;
  const StopScope* outer_;
};

// The scope of this thread; nullptr where there is none.
const StopScope* CurrentStopScope();

// Lets a thread ask the scope of the one that started it, which has to outlive it.
class InheritedStopScope {
 public:
  explicit InheritedStopScope(const StopScope* scope);
  InheritedStopScope(const InheritedStopScope&) = delete;
  InheritedStopScope& operator=(const InheritedStopScope&) = delete;
  ~InheritedStopScope();

 private:
  const StopScope* before_;
};

// Whether the work of this thread is to end.
bool IsStopRequested();

// Throws StopRequested if it is.
void CheckStop();

// The same for item `i` of a loop over all numbers of a range, in any order: most calls are a
// comparison.
inline void CheckStopAt(size_t i) {
  constexpr size_t kIterationsBetweenLooks = 1024;
  if (i % kIterationsBetweenLooks == 0) {
    CheckStop();
  }
}

// What `body` returns, a Result; kCancelled if it was left because `token` was stopped. If a token
// around this call was, the stop goes on to there.
template <class Body>
std::invoke_result_t<Body> Stoppable(std::stop_token token, const Body& body) {
  try {
    const StopScope scope(std::move(token));
    CheckStop();
    return body();
  } catch (const StopRequested&) {
    CheckStop();
    return Error{ErrorCode::kCancelled, "stopped"};
  }
}

// Waiting for another thread, for as long as this one is not to stop.

inline std::unique_lock<std::timed_mutex> LockUnlessStopped(std::timed_mutex& mutex) {
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(kBetweenLooks)) {
    CheckStop();
  }
  return lock;
}

}  // namespace borescope::internal
