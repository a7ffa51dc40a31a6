#include "borescope/verbs/open/served_timeline.h"

#include <gtest/gtest.h>

#include <string>

namespace borescope::internal {
namespace {

std::string Shown(std::string_view query) {
  const std::optional<AskedStretch> asked = ParseStretch(query);
  return asked.has_value()
             ? std::to_string(asked->span.begin_ns) + " " + std::to_string(asked->span.end_ns) +
                   " " + std::to_string(asked->grain_ns)
             : "refused";
}

TEST(ParseStretch, TakesWholeNanosecondsInAnyOrder) {
  EXPECT_EQ(Shown("begin=5&end=70&grain=16"), "5 70 16");
  EXPECT_EQ(Shown("grain=0&end=5&begin=5"), "5 5 0");
  EXPECT_EQ(Shown("begin=0&end=00012&"), "0 12 0");
}

TEST(ParseStretch, WhatIsTooLargeIsTheLargest) {
  const std::string most = std::to_string(INT64_MAX);
  EXPECT_EQ(Shown("begin=1&end=9223372036854775808&grain=99999999999999999999999"),
            "1 " + most + " " + most);
  EXPECT_EQ(Shown("begin=" + std::string(5000, '9') + "&end=" + std::string(5000, '9')),
            most + " " + most + " 0");
}

TEST(ParseStretch, RefusesAnythingElse) {
  for (const std::string_view query : {"",
                                       "begin=5",
                                       "end=5",
                                       "grain=5",
                                       "begin=6&end=5",
                                       "begin=-1&end=5",
                                       "begin=+1&end=5",
                                       "begin=1.5&end=5",
                                       "begin=1e3&end=5000",
                                       "begin=&end=5",
                                       "begin&end=5",

                                       "begin=1&end=5&end=6",
                                       "begin=1&end=5&x=6",
                                       "begin=1&end=5&grain=",
                                       "begin=0x1&end=5",
                                       "begin=%31&end=5",
                                       "begin= 1&end=5",
                                       "&&&",
                                       "====",
                                       "begin=1&&end=5",
                                       "begin=nan&end=inf"}) {
    EXPECT_EQ(Shown(query), "refused") << query;
  }
}

TEST(ServedTimeline, ARefusalSaysWhatToAsk) {
  const ServedTimeline timeline({}, {});
  const MadeAnswer answer = timeline.Answer("begin=9&end=1");
  EXPECT_TRUE(answer.is_refusal);
  EXPECT_NE(answer.body->find("begin=NS&end=NS&grain=NS"), std::string::npos);
  EXPECT_FALSE(timeline.Answer("begin=1&end=9").is_refusal);
}

}  // namespace
}  // namespace borescope::internal
