#include "borescope/json/number.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <random>
#include <string>

namespace borescope::internal {

bool operator==(const ParsedNumber& a, const ParsedNumber& b) {
  return a.value == b.value && a.status == b.status;
}

void PrintTo(const ParsedNumber& number, std::ostream* out) {
  *out << number.value << " (status " << static_cast<int>(number.status) << ')';
}

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

ParsedNumber Ok(int64_t value) { return {value, NumberStatus::kOk}; }
constexpr ParsedNumber kNotANumber{0, NumberStatus::kNotNumber};
constexpr ParsedNumber kNotFinite{0, NumberStatus::kNotFinite};
constexpr ParsedNumber kTooLarge{kMax, NumberStatus::kOverflow};
constexpr ParsedNumber kTooSmall{-kMax, NumberStatus::kOverflow};

// A double would turn the first one into ...313.000.
TEST(MicrosecondsTest, EpochTimesKeepEveryNanosecond) {
  EXPECT_EQ(ParseMicroseconds("1712165512464313.123"), Ok(1'712'165'512'464'313'123));
  EXPECT_EQ(ParseMicroseconds("1712165512464313.001"), Ok(1'712'165'512'464'313'001));
  EXPECT_EQ(ParseMicroseconds("1712165512464313"), Ok(1'712'165'512'464'313'000));
  EXPECT_EQ(ParseMicroseconds("9223372036854775.807"), Ok(kMax));
}

TEST(MicrosecondsTest, EveryCountOfDecimals) {
  EXPECT_EQ(ParseMicroseconds("7"), Ok(7000));
  EXPECT_EQ(ParseMicroseconds("7.5"), Ok(7500));
  EXPECT_EQ(ParseMicroseconds("7.05"), Ok(7050));
  EXPECT_EQ(ParseMicroseconds("7.005"), Ok(7005));
  EXPECT_EQ(ParseMicroseconds("7.0054"), Ok(7005));
  EXPECT_EQ(ParseMicroseconds("7.0055"), Ok(7006));
  EXPECT_EQ(ParseMicroseconds("7.00549999999999999999999999"), Ok(7005));
  EXPECT_EQ(ParseMicroseconds("7.000000000000000000000"), Ok(7000));
  EXPECT_EQ(ParseMicroseconds("0.9995"), Ok(1000));
  EXPECT_EQ(ParseMicroseconds("999.9999"), Ok(1'000'000));
}

TEST(MicrosecondsTest, HalvesRoundAwayFromZero) {
  EXPECT_EQ(ParseMicroseconds("0.0005"), Ok(1));
  EXPECT_EQ(ParseMicroseconds("-0.0005"), Ok(-1));
  EXPECT_EQ(ParseMicroseconds("0.00049"), Ok(0));
  EXPECT_EQ(ParseMicroseconds("-0.00049"), Ok(0));
  EXPECT_EQ(ParseMicroseconds("0.00009"), Ok(0));
  EXPECT_EQ(ParseMicroseconds("-12.3456"), Ok(-12346));
}

TEST(MicrosecondsTest, Exponents) {
  EXPECT_EQ(ParseMicroseconds("1e3"), Ok(1'000'000));
  EXPECT_EQ(ParseMicroseconds("1E+3"), Ok(1'000'000));
  EXPECT_EQ(ParseMicroseconds("1.5e-3"), Ok(2));
  EXPECT_EQ(ParseMicroseconds("1.7121655124643131e+15"), Ok(1'712'165'512'464'313'100));
  EXPECT_EQ(ParseMicroseconds("123456e-6"), Ok(123));
  EXPECT_EQ(ParseMicroseconds("5e-4"), Ok(1));
  EXPECT_EQ(ParseMicroseconds("5e-5"), Ok(0));
  EXPECT_EQ(ParseMicroseconds("1e-99999999999999999999"), Ok(0));
  EXPECT_EQ(ParseMicroseconds("0e99999999999999999999"), Ok(0));
  EXPECT_EQ(ParseMicroseconds("1e99999999999999999999"), kTooLarge);
}

TEST(MicrosecondsTest, SignsZerosAndBarePoints) {
  EXPECT_EQ(ParseMicroseconds("-0"), Ok(0));
  EXPECT_EQ(ParseMicroseconds("+5"), Ok(5000));
  EXPECT_EQ(ParseMicroseconds("0005"), Ok(5000));
  EXPECT_EQ(ParseMicroseconds("00000000000000000000005"), Ok(5000));
  EXPECT_EQ(ParseMicroseconds(".5"), Ok(500));
  EXPECT_EQ(ParseMicroseconds("5."), Ok(5000));
}

TEST(MicrosecondsTest, WhatDoesNotFitIsClamped) {
  EXPECT_EQ(ParseMicroseconds("9223372036854775.808"), kTooLarge);
  EXPECT_EQ(ParseMicroseconds("9223372036854775.8075"), kTooLarge);
  EXPECT_EQ(ParseMicroseconds("-9223372036854775.808"), kTooSmall);
  EXPECT_EQ(ParseMicroseconds("18446744073709551615"), kTooLarge);
  EXPECT_EQ(ParseMicroseconds("99999999999999999999"), kTooLarge);
  EXPECT_EQ(ParseMicroseconds("-" + std::string(400, '9')), kTooSmall);
  EXPECT_EQ(ParseMicroseconds("-9223372036854775.807"), Ok(-kMax));
}

TEST(MicrosecondsTest, SpellingsOfNoNumber) {
  for (const char* text : {"NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "+Inf"}) {
    EXPECT_EQ(ParseMicroseconds(text), kNotFinite) << text;
  }
  for (const char* text :
       {"",     "-",    "+",   ".",   "-.", "e5", "1e",  "1e+",   "1e5x",     "N/A", "null",
        "true", "0x10", "1,5", "1 5", " 5", "5 ", "--5", "1.2.3", "infinite", "5f",  "٥"}) {
    EXPECT_EQ(ParseMicroseconds(text), kNotANumber) << text;
  }
}

// The fast path and the general routine must agree for every spelling of a value.
TEST(MicrosecondsTest, AllWritingsOfAValueAgree) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 20'000; ++i) {
    const auto ns = static_cast<int64_t>(random() >> (1 + random() % 62));
    std::string digits = std::to_string(ns);
    digits.insert(0, digits.size() < 4 ? 4 - digits.size() : 0, '0');
    const size_t whole = digits.size() - 3;
    const std::string plain = digits.substr(0, whole) + "." + digits.substr(whole);
    ASSERT_EQ(ParseMicroseconds(plain), Ok(ns)) << plain;
    ASSERT_EQ(ParseScaled(plain, 3), Ok(ns)) << plain;
    ASSERT_EQ(ParseMicroseconds("-" + plain), Ok(-ns)) << plain;
    ASSERT_EQ(ParseMicroseconds(plain + "00"), Ok(ns)) << plain;
    ASSERT_EQ(ParseMicroseconds("00" + plain), Ok(ns)) << plain;
    ASSERT_EQ(ParseMicroseconds(digits + "e-3"), Ok(ns)) << plain;
    const size_t shift = random() % digits.size();
    const std::string moved = digits.substr(0, shift) + "." + digits.substr(shift) + "e" +
                              std::to_string(static_cast<int>(whole) - static_cast<int>(shift));
    ASSERT_EQ(ParseMicroseconds(moved), Ok(ns)) << moved;
    ASSERT_EQ(ParseScaled(plain, 2), Ok(ns / 10 + (digits.back() >= '5' ? 1 : 0))) << plain;
    const std::string shorter = plain.substr(0, plain.size() - 1);
    ASSERT_EQ(ParseMicroseconds(shorter), Ok(ns / 10 * 10)) << shorter;
  }
}

TEST(ScaledTest, ScalesByAnyPower) {
  EXPECT_EQ(ParseScaled("12.3456", 3), Ok(12346));
  EXPECT_EQ(ParseScaled("12.3456", 0), Ok(12));
  EXPECT_EQ(ParseScaled("12.5", 0), Ok(13));
  EXPECT_EQ(ParseScaled("1.5", 9), Ok(1'500'000'000));
  EXPECT_EQ(ParseScaled("1500", -3), Ok(2));
}

TEST(IntegerTest, PlainAndOddWritings) {
  EXPECT_EQ(ParseInteger("0"), Ok(0));
  EXPECT_EQ(ParseInteger("-7"), Ok(-7));
  EXPECT_EQ(ParseInteger("7.0"), Ok(7));
  EXPECT_EQ(ParseInteger("-7.000"), Ok(-7));
  EXPECT_EQ(ParseInteger("7e2"), Ok(700));
  EXPECT_EQ(ParseInteger("1.5e1"), Ok(15));
  EXPECT_EQ(ParseInteger("700e-2"), Ok(7));
  EXPECT_EQ(ParseInteger("+7"), Ok(7));
  EXPECT_EQ(ParseInteger("-0"), Ok(0));
  EXPECT_EQ(ParseInteger("7."), Ok(7));
}

TEST(IntegerTest, ValuesAroundTheFastPathAndTheLimits) {
  for (const char* text : {"99999999999999999", "999999999999999999", "1000000000000000000",
                           "9223372036854775807", "1712165512464313123"}) {
    EXPECT_EQ(ParseInteger(text), Ok(std::stoll(text))) << text;
    EXPECT_EQ(ParseInteger("-" + std::string(text)), Ok(-std::stoll(text))) << text;
  }
  EXPECT_EQ(ParseInteger("9223372036854775808"), kTooLarge);
  EXPECT_EQ(ParseInteger("18446744073709551615"), kTooLarge);
  EXPECT_EQ(ParseInteger("18446744073709551616"), kTooLarge);
  EXPECT_EQ(ParseInteger("1e19"), kTooLarge);
  EXPECT_EQ(ParseInteger("-1e400"), kTooSmall);
  EXPECT_EQ(ParseInteger("000000000000000000000000012"), Ok(12));
}

TEST(IntegerTest, FractionsAndTextAreNoIntegers) {
  for (const char* text :
       {"7.5", "0.1", "1e-1", "15e-1", "", "-", "+", "x7", "7x", "0x7", "null"}) {
    EXPECT_EQ(ParseInteger(text), kNotANumber) << text;
  }
  EXPECT_EQ(ParseInteger("nan"), kNotFinite);
  EXPECT_EQ(ParseInteger("-Infinity"), kNotFinite);
}

// Addresses and graph node ids use all 64 bits, kept as a pattern.
TEST(UnsignedTest, KeepsAllBits) {
  EXPECT_EQ(ParseUnsigned("18446744073709551615"), Ok(-1));
  EXPECT_EQ(ParseUnsigned("9223372036854775808"), Ok(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(ParseUnsigned("140018412748800"), Ok(140'018'412'748'800));
  EXPECT_EQ(ParseUnsigned("0"), Ok(0));
  EXPECT_EQ(ParseUnsigned("18446744073709551616"), (ParsedNumber{-1, NumberStatus::kOverflow}));
  EXPECT_EQ(ParseUnsigned("-3"), Ok(-3));
  EXPECT_EQ(ParseUnsigned("7.5"), kNotANumber);
  EXPECT_EQ(ParseUnsigned("inf"), kNotFinite);
}

// Few bytes may not cost much time: zero times ten to a huge power once took a loop over the power.
TEST(NumberTest, HugeExponentsCostNothing) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(ParseMicroseconds("0e999999999"), Ok(0));
    ASSERT_EQ(ParseInteger("0.0e999999999"), Ok(0));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(ParseDoubleTest, EveryWriting) {
  const auto value = [](const char* text) {
    const ParsedDouble number = ParseDouble(text);
    EXPECT_EQ(number.status, NumberStatus::kOk) << text;
    return number.value;
  };
  EXPECT_EQ(value("86114304"), 86114304);
  EXPECT_EQ(value("-0.25"), -0.25);
  EXPECT_EQ(value("+1.5E+3"), 1500);
  EXPECT_EQ(value("18446744073709551616"), 18446744073709551616.0);
  EXPECT_EQ(value("007"), 7);
  EXPECT_EQ(value("1e-999"), 0);
  for (const char* text : {"NaN", "-Infinity", "inf", "1e999"}) {
    EXPECT_EQ(ParseDouble(text).status, NumberStatus::kNotFinite) << text;
  }
  for (const char* text : {"", "x", "1x", "0x10", "1e", "--1", "true"}) {
    EXPECT_EQ(ParseDouble(text).status, NumberStatus::kNotNumber) << text;
  }
}

}  // namespace
}  // namespace borescope::internal
