#include "borescope/base/text/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace borescope::internal {
namespace {

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
