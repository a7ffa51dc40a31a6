#include "borescope/convert/chrome/chrome_events.h"

#include <gtest/gtest.h>

#include <string>

namespace borescope::internal {

namespace {

TEST(IsJsonValue, TakesValues) {
  for (const char* text : {"[[2, 3], []]", "[]", "{}", " 1 ", "-0.5e+3", "true", "null",
                           R"({"a": ["\u00e9\n", 99999999999999999999999]})", R"("x")"}) {
    EXPECT_TRUE(IsJsonValue(text)) << text;
  }
}

TEST(IsJsonValue, RefusesAllElse) {
  for (const char* text : {"",      " ",       "[",        "[1",        "[1,]",        "[,1]",
                           "1]",    "{1: 2}",  R"({"a"})", R"({"a":})", "01",          "1.",
                           ".5",    "-",       "1e",       "+1",        "nul",         "NaN",
                           "[1 2]", "[1]\n",   R"("a)",    R"("\x")",   R"("\u12g4")", "\"a\nb\"",
                           "1, 2",  "[1,\r2]", "3Efalse",  "[1.true]",  "-null"}) {
    EXPECT_FALSE(IsJsonValue(text)) << text;
  }
}

TEST(IsJsonValue, NestsToADepth) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(IsJsonValue(nested(64)));
  EXPECT_FALSE(IsJsonValue(nested(65)));
  EXPECT_TRUE(IsJsonValue(std::string(63, '[') + "1" + std::string(63, ']')));
  EXPECT_FALSE(IsJsonValue(std::string(64, '[') + "1" + std::string(64, ']')));
  EXPECT_FALSE(IsJsonValue(std::string(1'000'000, '[')));
}

}  // namespace

}  // namespace borescope::internal
