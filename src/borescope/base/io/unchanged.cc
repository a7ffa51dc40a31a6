#include "borescope/base/io/unchanged.h"

#include "borescope/base/io/paths.h"

namespace borescope::internal {

Result<std::optional<FileState>> FileState::Of(const std::string& path) {
  BS_ASSIGN(const struct stat status, StatusOf(path));
  if (!S_ISREG(status.st_mode)) {
    return std::optional<FileState>();
  }
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return std::optional(FileState{.device = status.st_dev,
                                 .inode = status.st_ino,
                                 .names = status.st_nlink,
                                 .bytes = status.st_size,
                                 .written_ns = static_cast<int64_t>(
                                     static_cast<uint64_t>(status.st_mtim.tv_sec) * kNanoseconds +
                                     static_cast<uint64_t>(status.st_mtim.tv_nsec))});
}

Error ChangedWhileRead(const std::string& path) {
  return {ErrorCode::kIo, "changed while it was read",
          "wait until the program that writes it has finished, then try again", path};
}

}  // namespace borescope::internal
