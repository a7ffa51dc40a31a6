#include "borescope/store/store_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "borescope/base/io/descriptor.h"
#include "borescope/base/io/paths.h"
#include "borescope/store/file_identity.h"
#include "borescope/store/private_file.h"
#include "borescope/store/stored_head.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSecretName = "borescope-cache.key";
constexpr size_t kHexDigits = 32;
constexpr std::string_view kMagicStart = "bstrace\n";
constexpr int64_t kDraftSeconds = 24 * 3600;

struct StoreFile {
  std::string path;
  uint64_t bytes = 0;
  int64_t used_ns = 0;
};

bool AreHexDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// "0123…cdef.trace"
bool IsStoreName(std::string_view name) {
  return name.size() > kHexDigits && AreHexDigits(name.substr(0, kHexDigits)) &&
         (name.substr(kHexDigits) == kTraceEnding || name.substr(kHexDigits) == kSeenEnding);
}

// ".0123…cdef.trace.XXXXXX"
bool IsDraftName(std::string_view name) {
  constexpr size_t kUnique = 7;
  return name.starts_with('.') && name.size() > kUnique + 1 &&
         IsStoreName(name.substr(1, name.size() - 1 - kUnique));
}

bool BeginsAsOurs(const std::string& path) {
  char begin[kMagicStart.size()] = {};
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return read(file.number(), begin, sizeof begin) == static_cast<ssize_t>(sizeof begin) &&
         std::string_view(begin, sizeof begin) == kMagicStart;
}

// The traces and seen files of this user; drafts that are old enough go.
std::vector<StoreFile> ListStore(const std::string& folder) {
  std::vector<StoreFile> files;
  const int64_t now = time(nullptr);
  const Result<std::vector<std::string>> names = NamesIfAny(folder);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const std::string path = (fs::path(folder) / name).string();
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid()) {
      continue;
    }
    if (IsDraftName(name) && now - status.st_mtim.tv_sec > kDraftSeconds) {
      unlink(path.c_str());
    } else if (IsStoreName(name)) {
      files.push_back({path, static_cast<uint64_t>(status.st_size), Nanoseconds(status.st_mtim)});
    }
  }
  return files;
}

// Only one process makes the secret, but for one that takes the place of what is none.
Result<void> WriteSecret(const std::string& path, bool replaces) {
  SecretHash::Secret secret{};
  if (getentropy(secret.data(), sizeof secret) != 0) {
    return Error{ErrorCode::kIo,
                 "no random bytes for it: " + std::generic_category().message(errno),
                 {},
                 path};
  }
  const std::string_view bytes(reinterpret_cast<const char*>(secret.data()), sizeof secret);
  return replaces ? WritePrivateFile(path, [&](const PutPiece& put) { return put(bytes); })
                  : MakePrivateFile(path, bytes);
}

// Without slashes at the end, which would make it the folder around what is to be made.
std::string WithoutSlashes(const std::string& folder) {
  const size_t last = folder.find_last_not_of('/');
  return last == std::string::npos ? folder : folder.substr(0, last + 1);
}

}  // namespace

Result<void> MakeStoreFolder(const std::string& folder) {
  const fs::path path(WithoutSlashes(folder));
  std::error_code error;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), error);
  }
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::kIo, std::generic_category().message(errno),
                 "name a folder that may be written to", folder};
  }
  BS_ASSIGN(const FileKind kind, KindOf(path.string()));
  if (kind != FileKind::kFolder) {
    return Error{ErrorCode::kIo, "is no folder", "name one", folder};
  }
  return {};
}

Result<SecretHash::Secret> SecretOfFolder(const std::string& folder) {
  const std::string path = folder + "/" + std::string(kSecretName);
  SecretHash::Secret secret{};
  for (int attempt = 0; attempt < 2; ++attempt) {
    // Asked first: another process may make it at any moment.
    const bool was_there = access(path.c_str(), F_OK) == 0;
    const Result<std::shared_ptr<const PrivateFile>> file = PrivateFile::Map(path);
    if (file.ok() && (*file)->bytes().size() == sizeof secret) {
      std::memcpy(secret.data(), (*file)->bytes().data(), sizeof secret);
      return secret;
    }
    if (!file.ok() && was_there) {
      return file.error();
    }
    BS_TRY(WriteSecret(path, /*replaces=*/file.ok()));
  }
  return Error{ErrorCode::kIo, "cannot be read after it was written", {}, path};
}

void RemoveOldest(const std::string& folder, uint64_t most_bytes) {
  std::vector<StoreFile> files = ListStore(folder);
  std::sort(files.begin(), files.end(), [](const StoreFile& a, const StoreFile& b) {
    return std::pair(a.used_ns, a.path) < std::pair(b.used_ns, b.path);
  });
  uint64_t bytes = 0;
  for (const StoreFile& file : files) {
    bytes += file.bytes;
  }
  for (const StoreFile& file : files) {
    if (bytes <= most_bytes) {
      return;
    }
    if (BeginsAsOurs(file.path) && unlink(file.path.c_str()) == 0) {
      bytes -= file.bytes;
    }
  }
}

void MarkUsed(const std::string& path) {
  utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

}  // namespace borescope::internal
