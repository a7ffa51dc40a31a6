#include "borescope/base/text/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope::internal {
namespace {

TEST(Nearest, IsNeverFar) {
  const std::vector<std::string_view> verbs = {"info", "breakdown", "kernels"};
  EXPECT_EQ(Nearest("brakedown", verbs), "breakdown");
  EXPECT_EQ(Nearest("ker", verbs), "kernels");
  EXPECT_EQ(Nearest("nothing", verbs), "");
}

// Two of three letters changed are another word, not a typing error.
TEST(Nearest, IsAtMostAThirdOfTheLettersAway) {
  const std::vector<std::string_view> names = {"top", "idle", "stragglers"};
  EXPECT_EQ(Nearest("foo", names), "");
  EXPECT_EQ(Nearest("tp", names), "top");
  EXPECT_EQ(Nearest("topp", names), "top");
  EXPECT_EQ(Nearest("ilde", names), "idle");  // a swap is one error
  EXPECT_EQ(Nearest("ailed", names), "");
  EXPECT_EQ(Nearest("stragler", names), "stragglers");
  EXPECT_EQ(Nearest("strglr", names), "");
  EXPECT_EQ(Nearest("x", names), "");
  EXPECT_EQ(Nearest("", names), "");
}

}  // namespace
}  // namespace borescope::internal
