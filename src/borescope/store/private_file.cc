#include "borescope/store/private_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <system_error>

#include "borescope/base/io/descriptor.h"
#include "borescope/base/io/unfinished.h"
#include "borescope/store/file_identity.h"

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

}  // namespace borescope::internal
