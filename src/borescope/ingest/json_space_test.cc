#include "borescope/ingest/json_space.h"

#include <gtest/gtest.h>

namespace borescope {
namespace {

TEST(JsonSpaceTest, OnlyWhatJsonCallsWhiteSpace) {
  for (const char c : {' ', '\n', '\t', '\r'}) {
    EXPECT_TRUE(IsSpace(c));
  }
  for (const char c : {'\0', '\v', '\f', '\xa0', 'x'}) {
    EXPECT_FALSE(IsSpace(c));
  }
}

TEST(JsonSpaceTest, FindsWhatStandsBehind) {
  EXPECT_EQ(FindNonSpace(" \n\t\rx "), 4U);
  EXPECT_EQ(FindNonSpace("a  b", 1), 3U);
  EXPECT_EQ(FindNonSpace("a  ", 1), 3U);
  EXPECT_EQ(FindNonSpace(""), 0U);
}

TEST(JsonSpaceTest, CutsWhatStandsAtTheEnd) {
  EXPECT_EQ(WithoutSpaceBehind(" a b\n\t "), " a b");
  EXPECT_EQ(WithoutSpaceBehind(" \r\n"), "");
}

}  // namespace
}  // namespace borescope
