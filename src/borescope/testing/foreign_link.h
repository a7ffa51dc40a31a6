// For tests that nothing is written through a link that another user made where all may write, as
// anybody can in /tmp. Only root can make such links.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "borescope/base/io/temporary_folder.h"

namespace borescope::internal {

// A folder in which all may write, with a link out of it that is our own until it is given away.
class ForeignLink {
 public:
  ForeignLink() {
    EXPECT_EQ(mkdir(all_.c_str(), 0700), 0);
    EXPECT_EQ(chmod(all_.c_str(), 01777), 0);
    EXPECT_EQ(mkdir(victim().c_str(), 0700), 0);
    EXPECT_EQ(symlink(victim().c_str(), path().c_str()), 0);
  }

  // The link, and the folder that it leads to.
  std::string path() const { return all_ + "/link"; }
  std::string victim() const { return folder_.path() + "/victim"; }

  // From now on it is somebody else's.
  void GiveAway() const {
    constexpr uid_t kSomebodyElse = 65534;
    EXPECT_EQ(lchown(path().c_str(), kSomebodyElse, kSomebodyElse), 0);
  }

 private:
  const TemporaryFolder folder_ = TemporaryFolder::Make().value();
  const std::string all_ = folder_.path() + "/all";
};

}  // namespace borescope::internal
