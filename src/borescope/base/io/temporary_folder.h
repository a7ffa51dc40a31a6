// A folder of our own for files that nobody is to keep.
#pragma once

#include <string>
#include <utility>

#include "borescope/base/io/folder_lock.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Below TMPDIR (else /tmp), for this user only; removed with all that is in it when the object
// goes. What is left of a process that was ended without a warning goes when the next one is made
// there. Holds a lock file, ".borescope-lock".
class TemporaryFolder {
 public:
  // kIo names the folder and the cause; TMPDIR names another one.
  static Result<TemporaryFolder> Make();

  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() { RemoveFolder(path_); }

  const std::string& path() const { return path_; }

  // Removes a folder with all that is in it, also while another thread still writes there; an empty
  // path is none. What cannot be removed stays.
  static void RemoveFolder(const std::string& path);

 private:
  TemporaryFolder(std::string path, FolderLock lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  FolderLock lock_;
};

}  // namespace borescope::internal
