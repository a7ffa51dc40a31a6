#include "borescope/output/units/digits.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace borescope::internal {
namespace {

std::string Digits(uint64_t number) {
  char text[kMostDigits];
  return {text, PutDigits(text, number)};
}

std::string SignedDigits(int64_t number) {
  char text[kMostDigits];
  return {text, PutSignedDigits(text, number)};
}

TEST(Digits, AreThoseOfTheNumberAtEveryLength) {
  EXPECT_EQ(Digits(0), "0");
  for (uint64_t power = 1;; power *= 10) {
    for (const uint64_t number : {power - 1, power, power + 1, power * 9}) {
      EXPECT_EQ(Digits(number), std::to_string(number));
    }
    if (power > std::numeric_limits<uint64_t>::max() / 10) {
      break;
    }
  }
  EXPECT_EQ(Digits(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
}

TEST(Digits, ZerosInsideStay) {
  for (const uint64_t number : {uint64_t{100000001}, uint64_t{10000000000000000},
                                uint64_t{1712195495000000003}, uint64_t{1000020003}}) {
    EXPECT_EQ(Digits(number), std::to_string(number));
  }
}

TEST(Digits, OfNegativeNumbersFollowTheirSign) {
  EXPECT_EQ(SignedDigits(-1), "-1");
  EXPECT_EQ(SignedDigits(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(SignedDigits(std::numeric_limits<int64_t>::max()), "9223372036854775807");
}

TEST(Digits, ThreeHaveLeadingZeros) {
  for (uint32_t number = 0; number < 1000; ++number) {
    char text[3];
    EXPECT_EQ(std::string(text, PutThreeDigits(text, number)),
              std::to_string(1000 + number).substr(1));
  }
}

}  // namespace
}  // namespace borescope::internal
