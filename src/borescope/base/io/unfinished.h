// What must not be left behind when a signal ends the process: drafts of files, temporary folders,
// children. The library handles no signals; a program that does calls UndoUnfinished() before it
// ends.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace borescope::internal {

// Held while something is made and registered, or finished and forgotten, so that a signal finds
// either all of it or nothing.
using UnfinishedLock = std::unique_lock<std::mutex>;
UnfinishedLock LockUnfinished();

// Something that exists and is not finished; by default nothing. Used by one thread.
class Unfinished {
 public:
  Unfinished() = default;
  // `undo` must not throw, and is called by another thread.
  Unfinished(const UnfinishedLock& lock, std::function<void()> undo);
  Unfinished(Unfinished&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  Unfinished& operator=(Unfinished&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  // Forgets it.
  ~Unfinished();

  // It is finished, or gone.
  void Forget(const UnfinishedLock& lock);

 private:
  uint64_t number_ = 0;  // 0: nothing
};

// Undoes what is registered, the last first. From then on LockUnfinished() waits for ever: nothing
// new is made, nothing is finished, and the process has to end. Thread-safe.
void UndoUnfinished();

}  // namespace borescope::internal
