// Marks a folder as in use for other processes, and checks such marks.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace borescope::internal {

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

}  // namespace borescope::internal
