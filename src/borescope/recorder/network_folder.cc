#include "borescope/recorder/network_folder.h"

#include <sys/vfs.h>

#include <algorithm>
#include <iterator>

namespace borescope::internal {
namespace {

// linux/magic.h, and the documentation of file systems that the kernel does not have.
constexpr uint64_t kNetwork[] = {
    0x6969,      // NFS
    0xfe534d42,  // SMB 2
    0xff534d42,  // CIFS
    0x517b,      // SMB
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x00c36400,  // Ceph
    0x19830326,  // BeeGFS
    0x65735546,  // FUSE
    0x01021997,  // 9P
    0x5346414f,  // AFS
    0xaad7aaea,  // PanFS
};

}  // namespace

bool IsNetworkFileSystem(uint64_t type) {
  return std::find(std::begin(kNetwork), std::end(kNetwork), type & 0xffffffffU) !=
         std::end(kNetwork);
}

bool IsOnNetwork(const std::string& folder) {
  struct statfs found = {};
  return statfs(folder.c_str(), &found) == 0 &&
         IsNetworkFileSystem(static_cast<uint64_t>(found.f_type));
}

}  // namespace borescope::internal
