// What is made and not finished: folders of our own for temporary files, the locks that mark them
// as in use, and what a signal has to undo.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "borescope/base/result.h"

namespace borescope::internal {

// Marks a folder as in use for other processes, and checks such marks.

// Holds the lock file ".borescope-lock" of a folder until the object is destroyed or the process
// ends in any way. The file stays. Used by one thread.
class FolderLock {
 public:
  // Makes the file in a folder of our own that was just created. Returns nothing if that fails, or
  // if another process has just treated the folder as abandoned: then use another folder. If the
  // file system has no locks, none is held, and no process takes the folder over either.
  static std::optional<FolderLock> Make(const std::string& folder);

  // Takes the lock of an abandoned folder, whose content we may then remove. Returns nothing unless
  // the folder is not a link, belongs to this user, has mode 0700, and has a lock file of this user
  // that is not held.
  static std::optional<FolderLock> TakeAbandoned(const std::string& folder);

  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

// What must not be left behind when a signal ends the process: drafts of files, temporary folders,
// children. The library handles no signals; a program that does calls UndoUnfinished() before it
// ends.

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

// Below TMPDIR (else /tmp), for this user only; removed with its contents when the object is
// destroyed, or by UndoUnfinished(). A folder left by a process that was killed is removed when the
// next one is made there. Holds a lock file, ".borescope-lock".
class TemporaryFolder {
 public:
  // kIo names the folder and the cause; TMPDIR can select another one.
  static Result<TemporaryFolder> Make();

  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        lock_(std::move(other.lock_)),
        unfinished_(std::move(other.unfinished_)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() { RemoveFolder(path_); }

  const std::string& path() const { return path_; }

  // Removes a folder with its contents, even while another thread still writes there; an empty path
  // is ignored. Files that cannot be removed stay.
  static void RemoveFolder(const std::string& path);

 private:
  TemporaryFolder(std::string path, FolderLock lock, Unfinished unfinished)
      : path_(std::move(path)), lock_(std::move(lock)), unfinished_(std::move(unfinished)) {}

  std::string path_;
  FolderLock lock_;
  Unfinished unfinished_;
};

}  // namespace borescope::internal
