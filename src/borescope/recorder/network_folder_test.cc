#include "borescope/recorder/network_folder.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(NetworkFolderTest, ByTheNumberOfTheFileSystem) {
  EXPECT_TRUE(IsNetworkFileSystem(0x6969));              // NFS
  EXPECT_TRUE(IsNetworkFileSystem(0xffffffffff534d42));  // CIFS, with its sign extended
  EXPECT_FALSE(IsNetworkFileSystem(0xef53));             // ext4
  EXPECT_FALSE(IsNetworkFileSystem(0x01021994));         // tmpfs
  EXPECT_FALSE(IsOnNetwork("/proc"));
  EXPECT_FALSE(IsOnNetwork("/does/not/exist"));
}

}  // namespace
}  // namespace borescope::internal
