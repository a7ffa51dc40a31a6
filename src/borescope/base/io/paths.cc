#include "borescope/base/io/paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>

namespace borescope::internal {
namespace {

// Whether an error says that nothing is there; what permissions or a loop of links hide may be.
bool MeansNothing(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ENXIO;
}

bool MeansHidden(int error) { return error == EACCES || error == EPERM || error == ELOOP; }

Error Failure(const std::string& path, int error) {
  if (error == ENOMEM) {
    throw std::bad_alloc();  // which has nothing to do with the path
  }
  return {ErrorCode::kIo, std::generic_category().message(error),
          "check its permissions and its disk", path};
}

// The status of a path by stat(2), which returned `failed`.
Result<struct stat> Looked(const std::string& path, struct stat status, int failed) {
  if (failed != 0) {
    if (!MeansNothing(errno) && !MeansHidden(errno)) {
      return Failure(path, errno);
    }
    status.st_mode = 0;
  }
  return status;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Adds the names in a folder; the error of the system, or 0.
int AddNames(const std::string& folder, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, CloseFolder> opened(opendir(folder.c_str()));
  if (opened == nullptr) {
    return errno;
  }
  for (;;) {
    errno = 0;  // which alone distinguishes the end from an error
    const dirent* const entry = readdir(opened.get());
    if (entry == nullptr) {
      return errno;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
}

Result<std::vector<std::string>> SortedNames(const std::string& folder, bool must_be_there) {
  std::vector<std::string> names;
  const int error = AddNames(folder, names);
  if (error != 0 && (must_be_there || !MeansNothing(error))) {
    return Failure(folder, error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The characters of a part of a pattern without the backslashes that take their meaning from them.
std::string Literal(std::string_view part) {
  std::string text;
  for (size_t i = 0; i < part.size(); ++i) {
    i += part[i] == '\\' && i + 1 < part.size() ? 1 : 0;
    text += part[i];
  }
  return text;
}

// Whether a part of a pattern may match several names.
bool HasWildcard(std::string_view part) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '*' || part[i] == '?' || part[i] == '[') {
      return true;
    }
    i += part[i] == '\\' ? 1 : 0;
  }
  return false;
}

// Adds the paths of what `folder`, which ends in a slash or is empty, holds and `part` matches.
Result<void> AddMatches(const std::string& folder, const std::string& part,
                        std::vector<std::string>& paths) {
  if (!HasWildcard(part)) {
    paths.push_back(folder + Literal(part));
    return {};
  }
  BS_ASSIGN(const std::vector<std::string> names, NamesIfAny(folder.empty() ? "." : folder));
  for (const std::string& name : names) {
    const int found = fnmatch(part.c_str(), name.c_str(), FNM_PERIOD);
    if (found == 0) {
      paths.push_back(folder + name);
    } else if (found != FNM_NOMATCH) {
      throw std::bad_alloc();  // glibc has no other reason to fail
    }
  }
  return {};
}

}  // namespace

Result<struct stat> StatusOf(const std::string& path) {
  struct stat status{};
  const int failed = stat(path.c_str(), &status);  // before the status is copied
  return Looked(path, status, failed);
}

Result<struct stat> StatusOfLink(const std::string& path) {
  struct stat status{};
  const int failed = lstat(path.c_str(), &status);  // before the status is copied
  return Looked(path, status, failed);
}

Result<std::string> PathWithoutLinks(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         std::free);
  if (real != nullptr) {
    return std::string(real.get());
  }
  return MeansNothing(errno) || MeansHidden(errno) ? Result(path) : Failure(path, errno);
}

Result<FileKind> KindOf(const std::string& path) {
  struct stat status{};
  const int failed = stat(path.c_str(), &status);  // before the status is copied
  if (failed != 0 && MeansHidden(errno)) {
    return Failure(path, errno);
  }
  BS_ASSIGN(status, Looked(path, status, failed));
  return S_ISREG(status.st_mode)   ? FileKind::kFile
         : S_ISDIR(status.st_mode) ? FileKind::kFolder
         : status.st_mode != 0     ? FileKind::kOther
                                   : FileKind::kNothing;
}

Result<bool> IsSameFile(const std::string& a, const std::string& b) {
  BS_ASSIGN(const struct stat one, StatusOf(a));
  BS_ASSIGN(const struct stat other, StatusOf(b));
  return one.st_mode != 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

Result<uint64_t> SizeOfFile(const std::string& path) {
  BS_ASSIGN(const struct stat status, StatusOf(path));
  return S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
}

Result<std::string> BeginOfFile(const std::string& path, size_t count) {
  BS_ASSIGN(const struct stat status, StatusOf(path));
  if (!S_ISREG(status.st_mode)) {
    return std::string();
  }
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) {
    return MeansNothing(errno) || MeansHidden(errno) ? Result(std::string()) : Failure(path, errno);
  }
  std::string bytes(count, '\0');
  size_t size = 0;
  while (size < count) {
    const ssize_t got = read(file.number(), bytes.data() + size, count - size);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return Failure(path, errno);
    }
    if (got == 0) {
      break;
    }
    size += static_cast<size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

bool MayBeRead(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0;
}

Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  return SortedNames(folder, true);
}

Result<std::vector<std::string>> NamesIfAny(const std::string& folder) {
  return SortedNames(folder, false);
}

Result<std::vector<std::string>> PathsMatching(const std::string& pattern) {
  std::vector<std::string> paths = {""};
  for (size_t at = 0; at < pattern.size();) {
    const size_t end = std::min(pattern.find('/', at), pattern.size());
    const size_t next = std::min(pattern.find_first_not_of('/', end), pattern.size());
    std::vector<std::string> longer;
    for (const std::string& path : paths) {
      BS_TRY(AddMatches(path, pattern.substr(at, end - at), longer));
    }
    for (std::string& path : longer) {
      path.append(pattern, end, next - end);
    }
    paths = std::move(longer);
    at = next;
  }
  std::vector<std::string> found;
  for (std::string& path : paths) {
    struct stat status{};
    if (!path.empty() && lstat(path.c_str(), &status) == 0) {
      found.push_back(std::move(path));
    } else if (!path.empty() && !MeansNothing(errno)) {
      return Failure(path, errno);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string RemedyOfAbsent(std::string_view path) {
  return path.find("://") != std::string_view::npos
             ? "give a file, or pipe what is at this address into `borescope VERB -`"
             : "check the name and its permissions";
}

}  // namespace borescope::internal
