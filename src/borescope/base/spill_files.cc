#include "borescope/base/spill_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#if defined(__linux__)
#include <sys/vfs.h>
#endif

namespace borescope::internal {
namespace {

// False where the system does not say.
bool IsMemoryFileSystem(const std::string& folder) {
#if defined(__linux__)
  constexpr long kTmpfs = 0x01021994;  // statfs(2)
  constexpr long kRamfs = 0x858458f6;
  struct statfs about{};
  return statfs(folder.c_str(), &about) == 0 && (about.f_type == kTmpfs || about.f_type == kRamfs);
#else
  static_cast<void>(folder);
  return false;
#endif
}

bool IsOnDisk(const std::string& folder) {
  return access(folder.c_str(), W_OK | X_OK) == 0 && !IsMemoryFileSystem(folder);
}

int OpenUnnamed(const std::string& folder) {
#if defined(O_TMPFILE)
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
    return file;
  }
#endif
  std::string path = folder + "/.borescope-columns-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) {
    unlink(path.c_str());
  }
  return named;
}

// 0, or what posix_fallocate says.
int TakeSpace(int file, uint64_t from, uint64_t to) {
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(to - from));
  }
  return error;
}

}  // namespace

std::shared_ptr<SpillFiles> SpillFiles::Usual() {
  const char* const named = std::getenv("TMPDIR");
  if (named != nullptr && *named != '\0') {
    return IsOnDisk(named) ? std::make_shared<SpillFiles>(named) : nullptr;
  }
  for (const char* const folder : {"/var/tmp", "/tmp"}) {
    if (IsOnDisk(folder)) {
      return std::make_shared<SpillFiles>(folder);
    }
  }
  return nullptr;
}

uint64_t SpillFiles::FreeBytes() const {
  struct statvfs about{};
  return statvfs(folder_.c_str(), &about) == 0 ? uint64_t{about.f_bavail} * about.f_frsize : 0;
}

std::unique_ptr<Descriptor> SpillFiles::Make(uint64_t bytes) {
  auto file = std::make_unique<Descriptor>(OpenUnnamed(folder_));
  if (file->number() < 0) {
    Note(errno, bytes);
    return nullptr;
  }
  return Extend(file->number(), 0, bytes) ? std::move(file) : nullptr;
}

bool SpillFiles::Extend(int file, uint64_t from_bytes, uint64_t to_bytes) {
  const int error = TakeSpace(file, from_bytes, to_bytes);
  if (error != 0) {
    Note(error, to_bytes - from_bytes);
  }
  return error == 0;
}

std::optional<std::string> SpillFiles::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void SpillFiles::Note(int error, uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  failure_ = folder_ + ": no room for " + std::to_string(bytes >> 20U) +
             " MiB of columns: " + std::strerror(error) +
             "; free some, or name a folder on another disk with TMPDIR";
}

}  // namespace borescope::internal
