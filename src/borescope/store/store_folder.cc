#include "borescope/store/store_folder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "borescope/base/io/foreign_links.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/io/temporary_folder.h"
#include "borescope/store/file_identity.h"
#include "borescope/store/stored_trace.h"

namespace borescope::internal {

namespace {

Error PrivateFileError(const std::string& path, int error) {
  return {ErrorCode::kIo, std::generic_category().message(error), {}, path};
}

Result<void> PutAll(int descriptor, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) {
      return PrivateFileError(path, errno);
    }
    bytes.remove_prefix(done < 0 ? 0 : static_cast<size_t>(done));
  }
  return {};
}

// The new file beside its target until it has its name.
class Draft {
 public:
  explicit Draft(const std::string& target) : name_(target) {
    name_.insert(name_.rfind('/') + 1, ".");
    name_ += ".XXXXXX";
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (exists_) {
      const UnfinishedLock lock = LockUnfinished();
      unlink(name_.c_str());
      unfinished_.Forget(lock);
    }
  }

  // A descriptor for writing to it; -1 and errno.
  int Make() {
    const UnfinishedLock lock = LockUnfinished();
    const int made = mkostemp(name_.data(), O_CLOEXEC);  // mode 0600
    exists_ = made >= 0;
    if (exists_) {
      unfinished_ = Unfinished(lock, [name = name_] { unlink(name.c_str()); });
    }
    return made;
  }

  // The name of the draft goes with the scope. Whatever has the name of the target keeps it.
  Result<void> LinkUnlessThere(const std::string& target) {
    if (link(name_.c_str(), target.c_str()) == 0 || errno == EEXIST) {
      return {};
    }
    // Some file systems have no links.
    return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS
               ? Rename(target)
               : PrivateFileError(target, errno);
  }

  Result<void> Rename(const std::string& target) {
    const UnfinishedLock lock = LockUnfinished();
    if (std::rename(name_.c_str(), target.c_str()) != 0) {
      return PrivateFileError(target, errno);
    }
    unfinished_.Forget(lock);
    exists_ = false;
    return {};
  }

 private:
  std::string name_;
  bool exists_ = false;
  Unfinished unfinished_;
};

// The size of an ordinary file that this user alone may write to.
Result<size_t> PrivateSize(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    return PrivateFileError(path, errno);
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error{
        ErrorCode::kIo, "not an ordinary file that this user alone may write to", {}, path};
  }
  return static_cast<size_t>(status.st_size);
}

Descriptor OpenPrivate(const std::string& path) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

Result<void> GetAll(const Descriptor& file, const std::string& path, std::span<char> room) {
  while (!room.empty()) {
    const ssize_t done = read(file.number(), room.data(), room.size());
    if (done == 0) {
      return Error{ErrorCode::kIo, "became shorter while it was read", {}, path};
    }
    if (done < 0 && errno != EINTR) {
      return PrivateFileError(path, errno);
    }
    room = room.subspan(done < 0 ? 0 : static_cast<size_t>(done));
  }
  return {};
}

}  // namespace

// Memory of the system in any case, as mmap gives it for a file or for nothing.
Result<std::shared_ptr<const PrivateFile>> PrivateFile::Opened(const std::string& path,
                                                               bool may_map) {
  const Descriptor file = OpenPrivate(path);
  BS_ASSIGN(const size_t size, PrivateSize(file, path));
  const bool is_mapped = may_map && KeepsChangeTimes(file.number());
  void* const memory =
      size == 0   ? nullptr
      : is_mapped ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0)
                  : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return PrivateFileError(path, errno);
  }
  auto* const bytes = static_cast<char*>(memory);
  std::shared_ptr<const PrivateFile> opened(new PrivateFile({bytes, size}));
  if (!is_mapped) {
    BS_TRY(GetAll(file, path, {bytes, size}));
  }
  return opened;
}

Result<std::shared_ptr<const PrivateFile>> PrivateFile::Map(const std::string& path) {
  return Opened(path, /*may_map=*/true);
}

Result<std::shared_ptr<const PrivateFile>> PrivateFile::Read(const std::string& path) {
  return Opened(path, /*may_map=*/false);
}

PrivateFile::~PrivateFile() {
  if (!bytes_.empty()) {
    munmap(const_cast<char*>(bytes_.data()), bytes_.size());  // NOLINT: as mmap gave it
  }
}

Result<void> WritePrivateFile(const std::string& path,
                              const std::function<Result<void>(const PutPiece& put)>& write) {
  Draft draft(path);
  const Descriptor file(draft.Make());
  if (file.number() < 0) {
    return PrivateFileError(path, errno);
  }
  BS_TRY(write(
      [&](std::string_view bytes) -> Result<void> { return PutAll(file.number(), path, bytes); }));
  return draft.Rename(path);
}

Result<void> MakePrivateFile(const std::string& path, std::string_view bytes) {
  Draft draft(path);
  const Descriptor file(draft.Make());
  if (file.number() < 0) {
    return PrivateFileError(path, errno);
  }
  BS_TRY(PutAll(file.number(), path, bytes));
  return draft.LinkUnlessThere(path);
}

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
  BS_TRY(CheckNoForeignLink(path.string()));
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
    BS_ASSIGN(const FileKind before, KindOf(path));
    const Result<std::shared_ptr<const PrivateFile>> file = PrivateFile::Map(path);
    if (file.ok() && (*file)->bytes().size() == sizeof secret) {
      std::memcpy(secret.data(), (*file)->bytes().data(), sizeof secret);
      return secret;
    }
    if (!file.ok() && before != FileKind::kNothing) {
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
