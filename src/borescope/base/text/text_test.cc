#include "borescope/base/text/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

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

// The vectors of RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  for (const auto& [bytes, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(Base64(bytes), text);
  }
}

TEST(Base64, TakesAnyByte) {
  EXPECT_EQ(Base64(std::string_view("\0\0\0\xFF", 4)), "AAAA/w==");
  EXPECT_EQ(Base64("\xFB\xFF\xBE"), "+/++");
}

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

TEST(TextTest, OnlyWhatJsonCallsWhiteSpace) {
  for (const char c : {' ', '\n', '\t', '\r'}) {
    EXPECT_TRUE(IsSpace(c));
  }
  for (const char c : {'\0', '\v', '\f', '\xa0', 'x'}) {
    EXPECT_FALSE(IsSpace(c));
  }
}

TEST(TextTest, DigitsAndLettersAreThoseOfAscii) {
  for (const char c : {'0', '9'}) {
    EXPECT_TRUE(IsDigit(c));
  }
  for (const char c : {'/', ':', 'a', '\xb2', '\0'}) {
    EXPECT_FALSE(IsDigit(c));
  }
  EXPECT_EQ(LowerCase("@AZ[ az \xC3\x84"), "@az[ az \xC3\x84");
}

TEST(TextTest, CutsWhiteSpace) {
  EXPECT_EQ(WithoutSpaceBehind(" a b\n\t "), " a b");
  EXPECT_EQ(WithoutSpaceBehind(" \r\n"), "");
  EXPECT_EQ(Trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trimmed(" \n"), "");
  EXPECT_EQ(Trimmed(""), "");
}

TEST(TextTest, NumbersAreAllOfTheText) {
  EXPECT_EQ(ParseNumber<int64_t>("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ParseNumber<uint64_t>("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(ParseNumber<double>("1.5e3"), 1500);
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x1", "-", "9223372036854775808"}) {
    EXPECT_EQ(ParseNumber<int64_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseNumber<uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(ParseNumber<double>("1.5x"), std::nullopt);
  EXPECT_EQ(ParseNumber<int>({}), std::nullopt);
}

}  // namespace

}  // namespace borescope::internal
