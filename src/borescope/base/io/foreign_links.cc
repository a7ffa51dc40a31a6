#include "borescope/base/io/foreign_links.h"

#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <system_error>
#include <utility>

#include "borescope/base/io/paths.h"

namespace borescope::internal {

namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as Linux follows

Error WriteError(const std::string& path, const std::error_code& error) {
  return {ErrorCode::kIo, "cannot write: " + error.message(), {}, path};
}

// Whether a symbolic link may be somebody's trap: another user made it in a folder where all may
// write. Linux refuses to follow such links where fs.protected_symlinks is set (proc(5)); the owner
// of the folder is trusted there, too.
Result<bool> IsForeignLink(const fs::path& link) {
  BS_ASSIGN(const struct stat status, StatusOfLink(link.string()));
  if (!S_ISLNK(status.st_mode)) {
    return false;
  }
  const fs::path parent = link.parent_path().empty() ? fs::path(".") : link.parent_path();
  BS_ASSIGN(const struct stat folder, StatusOf(parent.string()));
  return (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0 &&
         status.st_uid != geteuid() && status.st_uid != folder.st_uid;
}

}  // namespace

Result<std::optional<fs::path>> WhatLinkSays(const fs::path& link) {
  std::error_code error;
  fs::path behind = fs::read_symlink(link, error);
  if (!error) {
    return std::optional(std::move(behind));
  }
  // Whatever it is that cannot be read: no link, or an error.
  BS_ASSIGN(const struct stat status, StatusOfLink(link.string()));
  return S_ISLNK(status.st_mode) ? Result<std::optional<fs::path>>(WriteError(link.string(), error))
                                 : std::optional<fs::path>();
}

namespace {

// The first link of somebody else on the way to a file; nothing where there is none.
Result<std::optional<fs::path>> ForeignLinkOn(const fs::path& path) {
  std::error_code error;
  std::deque<fs::path> ahead;
  const fs::path absolute = fs::absolute(path, error);
  if (error) {
    return WriteError(path.string(), error);
  }
  ahead.assign(absolute.begin(), absolute.end());
  fs::path way;
  for (int links = 0; !ahead.empty() && links < kMostLinks;) {
    fs::path next = way / ahead.front();  // of the root: itself
    ahead.pop_front();
    BS_ASSIGN(const bool is_foreign, IsForeignLink(next));
    if (is_foreign) {
      return std::optional(next);
    }
    BS_ASSIGN(const std::optional<fs::path> behind, WhatLinkSays(next));
    if (!behind.has_value()) {
      way = next;
    } else {
      ++links;
      ahead.insert(ahead.begin(), behind->begin(), behind->end());
    }
  }
  return std::optional<fs::path>();
}

}  // namespace

Result<void> CheckNoForeignLink(const std::string& path) {
  BS_ASSIGN(const std::optional<fs::path> foreign, ForeignLinkOn(path));
  if (foreign.has_value()) {
    return Error{ErrorCode::kIo,
                 "cannot write: " + foreign->string() +
                     " is a symbolic link that another user made in a folder where all may write",
                 "name another file, or remove the link", path};
  }
  return {};
}

}  // namespace borescope::internal
