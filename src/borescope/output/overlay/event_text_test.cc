#include "borescope/output/overlay/event_text.h"

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

template <class Fn>
std::string Written(const Fn& put) {
  StringSink sink;
  EventText text(sink, false);
  put(text);
  EXPECT_TRUE(text.Finish().ok());
  return sink.text();
}

std::string Time(int64_t ns) {
  return Written([&](EventText& text) { text.PutTime(ns); });
}

std::string Number(double value) {
  return Written([&](EventText& text) { text.PutNumber(value); });
}

TEST(EventText, TimesAreExactMicroseconds) {
  EXPECT_EQ(Time(0), "0.000");
  EXPECT_EQ(Time(1), "0.001");
  EXPECT_EQ(Time(-1), "-0.001");
  EXPECT_EQ(Time(1712195495505543250), "1712195495505543.250");
  EXPECT_EQ(Time(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
}

TEST(EventText, NumbersReadBackTheSame) {
  EXPECT_EQ(Number(4.5), "4.5");
  EXPECT_EQ(Number(100), "100");
  EXPECT_EQ(Number(1e300), "1e+300");
  EXPECT_EQ(Number(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(EventText, StringsAreEscapedOnlyWhereNeeded) {
  EXPECT_TRUE(IsPlainJson("void f<int>(int)"));
  EXPECT_FALSE(IsPlainJson("say \"hi\""));
  EXPECT_FALSE(IsPlainJson("\xC3\xA9"));
  EXPECT_EQ(Written([](EventText& text) { text.PutString("a\\\"\n\x01\xC3\xA9\xFF"); }),
            "\"a\\\\\\\"\\n\\u0001\xC3\xA9\xEF\xBF\xBD\"");
}

TEST(EventText, CommasStandBetweenEvents) {
  EXPECT_EQ(Written([](EventText& text) {
              text.StartEvent();
              text.Put("{}");
              text.StartEvent();
              text.Put("{}");
            }),
            "\n{},\n{}");
}

TEST(OwnTids, SkipsWhatIsRecorded) {
  Tracks tracks;
  tracks.tid = {7, 1'000'000'001};
  OwnThreads threads(tracks);
  EXPECT_EQ(threads.Next(), 1'000'000'000);
  EXPECT_EQ(threads.Next(), 1'000'000'002);
}

}  // namespace

}  // namespace borescope::internal
