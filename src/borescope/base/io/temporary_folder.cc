#include "borescope/base/io/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "borescope/base/io/paths.h"

namespace borescope::internal {
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
    std::error_code error;
    fs::remove_all(path, error);
    if (!error) {
      return;
    }
  }
}

}  // namespace borescope::internal
