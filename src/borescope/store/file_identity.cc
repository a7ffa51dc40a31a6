#include "borescope/store/file_identity.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

std::optional<FileIdentity> IdentityOf(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return FileIdentity{.device = status.st_dev,
                      .inode = status.st_ino,
                      .bytes = static_cast<uint64_t>(status.st_size),
                      .written_ns = Nanoseconds(status.st_mtim),
                      .changed_ns = Nanoseconds(status.st_ctim)};
}

// As linux/magic.h and the sources of the file systems have them.
constexpr uint64_t kLocalFileSystems[] = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683E,  // Btrfs
    0x01021994,  // tmpfs
    0xF2F52010,  // F2FS
    0x2FC12FC1,  // ZFS
    0xCA451A4E,  // bcachefs
    0x794C7630,  // overlayfs, of containers
};

}  // namespace

int64_t Nanoseconds(const timespec& time) {
  constexpr int64_t kPerSecond = 1'000'000'000;
  constexpr int64_t kMostSeconds = std::numeric_limits<int64_t>::max() / kPerSecond;
  const int64_t seconds = std::clamp<int64_t>(time.tv_sec, -kMostSeconds, kMostSeconds);
  return AddSaturating(seconds * kPerSecond, time.tv_nsec);
}

std::optional<FileIdentity> FileIdentity::Of(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 ? IdentityOf(status) : std::nullopt;
}

std::optional<FileIdentity> FileIdentity::OfDescriptor(int descriptor) {
  struct stat status{};
  return fstat(descriptor, &status) == 0 ? IdentityOf(status) : std::nullopt;
}

bool KeepsChangeTimes(int descriptor) {
  struct statfs status{};
  if (fstatfs(descriptor, &status) != 0) {
    return false;
  }
  const auto type = static_cast<uint64_t>(static_cast<uint32_t>(status.f_type));
  return std::find(std::begin(kLocalFileSystems), std::end(kLocalFileSystems), type) !=
         std::end(kLocalFileSystems);
}

}  // namespace borescope::internal
