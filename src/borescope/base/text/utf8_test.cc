#include "borescope/base/text/utf8.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(Utf8, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(ToValidUtf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(ToValidUtf8("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(ToValidUtf8("\xE2\x80"), "\uFFFD\uFFFD");            // cut off
  EXPECT_EQ(ToValidUtf8("\xF4\x90\x80\x80").size(), 12U);        // beyond U+10FFFF
  EXPECT_EQ(ToValidUtf8("añ漢😀"), "añ漢😀");
}

}  // namespace
}  // namespace borescope::internal
