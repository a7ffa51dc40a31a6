#include "borescope/base/io/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/base/io/file_locks.h"
#include "borescope/base/io/paths.h"

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
  const bool is_refused = flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0 && !MeansNoLocks(errno);
  if (is_refused || !IsStillThere(lock.descriptor_)) {
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

namespace {

struct Registry {
  std::mutex mutex;
  std::map<uint64_t, std::function<void()>> undo;  // by number, in the order of registration
  uint64_t last_number = 0;
};

// Never destroyed: threads may outlive the end of main().
Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

}  // namespace

UnfinishedLock LockUnfinished() { return UnfinishedLock(TheRegistry().mutex); }

Unfinished::Unfinished(const UnfinishedLock& /*lock*/, std::function<void()> undo)
    : number_(++TheRegistry().last_number) {
  TheRegistry().undo.emplace(number_, std::move(undo));
}

Unfinished::~Unfinished() {
  if (number_ != 0) {
    Forget(LockUnfinished());
  }
}

void Unfinished::Forget(const UnfinishedLock& /*lock*/) {
  TheRegistry().undo.erase(std::exchange(number_, 0));
}

void UndoUnfinished() {
  Registry& registry = TheRegistry();
  registry.mutex.lock();  // and never unlocked
  for (auto entry = registry.undo.rbegin(); entry != registry.undo.rend(); ++entry) {
    entry->second();
  }
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "borescope-";
constexpr std::string_view kPlaces = "XXXXXX";  // of mkdtemp()

// Whether no other user can replace our folder.
bool KeepsNames(const std::string& parent) {
  struct stat status{};
  return stat(parent.c_str(), &status) == 0 &&
         ((status.st_mode & S_ISVTX) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) == 0);
}

// Removes folders of processes that were killed without warning.
void RemoveAbandoned(const std::string& parent) {
  if (!KeepsNames(parent)) {
    return;
  }
  const Result<std::vector<std::string>> names = NamesIfAny(parent);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kPlaces.size()) {
      continue;
    }
    const std::string path = (fs::path(parent) / name).string();
    if (const std::optional<FolderLock> lock = FolderLock::TakeAbandoned(path)) {
      TemporaryFolder::RemoveFolder(path);
    }
  }
}

// The entries of a folder, as the kernel hands them out.
struct Entry {
  uint64_t number;
  int64_t offset;
  uint16_t bytes;  // of this entry
  unsigned char type;
  char name[1];
};

// Removes what a folder holds, without taking memory: there may be none left when it is needed.
void RemoveIn(int parent, const char* name) {
  const Descriptor folder(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.number() < 0) {
    return;
  }
  alignas(Entry) std::array<char, 2048> entries{};
  for (;;) {
    const auto size = syscall(SYS_getdents64, folder.number(), entries.data(), entries.size());
    if (size <= 0) {
      return;
    }
    for (size_t at = 0; at < static_cast<size_t>(size);) {
      const auto* const entry = reinterpret_cast<const Entry*>(entries.data() + at);
      const std::string_view found = entry->name;
      at += entry->bytes;
      if (found == "." || found == "..") {
        continue;
      }
      if (unlinkat(folder.number(), entry->name, 0) != 0 && (errno == EISDIR || errno == EPERM)) {
        RemoveIn(folder.number(), entry->name);
        unlinkat(folder.number(), entry->name, AT_REMOVEDIR);
      }
    }
  }
}

Error Failure(const std::string& parent) {
  return {ErrorCode::kIo, std::string("cannot make a temporary folder: ") + std::strerror(errno),
          "name another place with TMPDIR", parent};
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::Make() {
  const char* const named = std::getenv("TMPDIR");
  const std::string parent = named != nullptr && *named != '\0' ? named : "/tmp";
  RemoveAbandoned(parent);
  constexpr int kAttempts = 10;  // another process that cleans up may be faster than our lock
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string path = (fs::path(parent) / kPrefix).string() + std::string(kPlaces);
    Unfinished unfinished;
    {
      const UnfinishedLock lock = LockUnfinished();
      if (mkdtemp(path.data()) == nullptr) {
        break;
      }
      unfinished = Unfinished(lock, [path] { RemoveFolder(path); });
    }
    if (std::optional<FolderLock> lock = FolderLock::Make(path)) {
      return TemporaryFolder(std::move(path), *std::move(lock), std::move(unfinished));
    }
    const int cause = errno;
    RemoveFolder(path);
    errno = cause;
  }
  return Failure(parent);
}

void TemporaryFolder::RemoveFolder(const std::string& path) {
  constexpr int kAttempts = 10;  // a file that appears meanwhile makes the removal fail
  for (int attempt = 0; !path.empty() && attempt < kAttempts; ++attempt) {
    RemoveIn(AT_FDCWD, path.c_str());
    if (rmdir(path.c_str()) == 0 || errno == ENOENT) {
      return;
    }
  }
}

}  // namespace borescope::internal
