// A folder of our own for temporary files.
#pragma once

#include <string>
#include <utility>

#include "borescope/base/io/folder_lock.h"
#include "borescope/base/io/unfinished.h"
#include "borescope/base/result.h"

namespace borescope::internal {

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
