#include "borescope/output/overlay/event_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {
namespace {

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
