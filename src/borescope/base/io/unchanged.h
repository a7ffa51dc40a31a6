// Notices that a file changes while it is read: a profiler still writes it, a copy is in progress,
// or another file takes its place. What was read then is of no moment that ever was.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "borescope/base/result.h"

namespace borescope::internal {

// Which file a path leads to, links resolved, and how it was last written.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t names = 0;
  int64_t bytes = 0;
  int64_t written_ns = 0;  // time of the last change, on the clock of the file system

  bool operator==(const FileState&) const = default;

  // Nothing where the path leads to no ordinary file. kIo if the system cannot tell (StatusOf).
  static Result<std::optional<FileState>> Of(const std::string& path);
};

// kIo, with what to do.
Error ChangedWhileRead(const std::string& path);

// What `body` returns of reading the file, unless the file is another one afterwards, or was
// changed: damage that it found then is no damage. Files that are not ordinary are not watched.
template <class Body>
std::invoke_result_t<Body> ReadUnchanged(const std::string& path, const Body& body) {
  BS_ASSIGN(const std::optional<FileState> before, FileState::Of(path));
  std::invoke_result_t<Body> result = body();
  if (before.has_value()) {
    BS_ASSIGN(const std::optional<FileState> after, FileState::Of(path));
    if (after != before) {
      return ChangedWhileRead(path);
    }
  }
  return result;
}

}  // namespace borescope::internal
