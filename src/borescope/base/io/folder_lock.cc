#include "borescope/base/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace borescope::internal {
namespace {

constexpr const char* kLockFile = ".borescope-lock";

// Accessible only to this user.
bool IsOurFolder(int folder) {
  struct stat status{};
  return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
         (status.st_mode & 07777U) == 0700;
}

bool IsOurFile(int file) {
  struct stat status{};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

// A process that locked the file before us may have removed it.
bool IsStillThere(int file) {
  struct stat status{};
  return fstat(file, &status) == 0 && status.st_nlink != 0;
}

}  // namespace

std::optional<FolderLock> FolderLock::Make(const std::string& folder) {
  const std::string path = folder + "/" + kLockFile;
  FolderLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (lock.descriptor_ < 0) {
    return std::nullopt;
  }
  const bool is_taken = flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_taken || !IsStillThere(lock.descriptor_)) {
    return std::nullopt;
  }
  return lock;
}

std::optional<FolderLock> FolderLock::TakeAbandoned(const std::string& folder) {
  const FolderLock opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened.descriptor_ < 0 || !IsOurFolder(opened.descriptor_)) {
    return std::nullopt;
  }
  FolderLock lock(
      openat(opened.descriptor_, kLockFile, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (lock.descriptor_ < 0 || !IsOurFile(lock.descriptor_) ||
      flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    return std::nullopt;
  }
  return lock;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

}  // namespace borescope::internal
