// Tells other processes that a folder is in use, and whether one still is.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace borescope::internal {

// Holds the lock file ".borescope-lock" of a folder until it goes, or the process does, however
// that ends. The file stays. Used by one thread.
class FolderLock {
 public:
  // Makes the file in a folder of our own that was made a moment ago. Nothing where that cannot be,
  // or where somebody has just taken the folder for an abandoned one: then take another folder.
  // Where the file system knows no locks it holds none, and nobody there takes the folder either.
  static std::optional<FolderLock> Make(const std::string& folder);

  // Takes the lock of an abandoned folder, whose content is then ours to remove. Nothing unless the
  // folder is no link, this user's, closed to others (mode 0700), and has a lock file of this user
  // that nobody holds.
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
