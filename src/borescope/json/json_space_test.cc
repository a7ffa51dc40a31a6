#include "borescope/json/json_space.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(JsonSpaceTest, FindsWhatStandsBehind) {
  EXPECT_EQ(FindNonSpace(" \n\t\rx "), 4U);
  EXPECT_EQ(FindNonSpace("a  b", 1), 3U);
  EXPECT_EQ(FindNonSpace("a  ", 1), 3U);
  EXPECT_EQ(FindNonSpace(""), 0U);
}

}  // namespace
}  // namespace borescope::internal
