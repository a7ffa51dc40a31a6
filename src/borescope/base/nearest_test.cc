#include "borescope/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope {
namespace {

TEST(Nearest, IsNeverFar) {
  const std::vector<std::string_view> verbs = {"info", "breakdown", "kernels"};
  EXPECT_EQ(Nearest("brakedown", verbs), "breakdown");
  EXPECT_EQ(Nearest("ker", verbs), "kernels");
  EXPECT_EQ(Nearest("nothing", verbs), "");
}

}  // namespace
}  // namespace borescope
