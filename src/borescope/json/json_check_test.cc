#include "borescope/json/json_check.h"

#include <gtest/gtest.h>

#include <string>

namespace borescope::internal {
namespace {

bool IsJson(std::string_view text) {
  JsonCheck check;
  return check.Take(text) && check.Finish();
}

// The same, in two pieces cut anywhere, and byte by byte.
bool IsJsonInPieces(std::string_view text, bool expected) {
  JsonCheck bytes;
  for (const char c : text) {
    bytes.Take({&c, 1});
  }
  bool agree = bytes.Finish() == expected;
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    JsonCheck check;
    check.Take(text.substr(0, cut));
    check.Take(text.substr(cut));
    agree = agree && check.Finish() == expected;
  }
  return agree;
}

TEST(JsonCheck, WhatIsJson) {
  for (const std::string text :
       {"{}", "[]", "0", "-0", "10", "-1.5e+10", "0E0", "1e-7", "\"\"", "true", "false", "null",
        " \t\r\n[ ] \n", "[1,2,[3,{\"a\":[]}]]", R"({"a":{"b":"c"},"d":[true,null,-0.25]})",
        R"("\"\\\/\b\f\n\r\t\u00e4\uDC00")", "\"\xc3\xa4 \x7f\"", R"({"":0,"":1})"}) {
    EXPECT_TRUE(IsJson(text)) << text;
    EXPECT_TRUE(IsJsonInPieces(text, true)) << text;
  }
}

TEST(JsonCheck, WhatIsNot) {
  using namespace std::string_literals;
  for (const std::string& text :
       {""s,           " "s,         "{"s,      "["s,          "}"s,
        "[1"s,         "[1,]"s,      "[,1]"s,   "{\"a\"}"s,    "{\"a\":}"s,
        "{\"a\":1,}"s, "{a:1}"s,     "{1:1}"s,  "{\"a\" 1}"s,  "[1 2]"s,
        "[1}"s,        "{\"a\":1]"s, "1 2"s,    "{}{}"s,       "{},"s,
        "01"s,         "-"s,         "-a"s,     "1."s,         ".5"s,
        "+1"s,         "1e"s,        "1e+"s,    "1.e5"s,       "0x10"s,
        "--1"s,        "1.2.3"s,     "1e5e5"s,  "NaN"s,        "Infinity"s,
        "-Infinity"s,  "nan"s,       "tru"s,    "truee"s,      "True"s,
        "nulll"s,      "\"a"s,       "'a'"s,    "\"\\q\""s,    "\"\\u12g4\""s,
        "\"\\u12\""s,  "\"a\nb\""s,  "\"\0\""s, "[\"a\"b\"]"s, "\xef\xbb\xbf{}"s,
        "// a\n{}"s,   "\v{}"s}) {
    EXPECT_FALSE(IsJson(text)) << text;
    EXPECT_TRUE(IsJsonInPieces(text, false)) << text;
  }
}

TEST(JsonCheck, DepthIsLimited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(IsJson(nested(1000)));
  EXPECT_FALSE(IsJson(nested(1001)));
  EXPECT_FALSE(IsJson(std::string(10'000'000, '[')));
}

TEST(JsonCheck, TellsHowDeepItsValuesLie) {
  const auto deepest = [](std::string_view text) {
    JsonCheck check;
    EXPECT_TRUE(check.Take(text) && check.Finish()) << text;
    return check.deepest();
  };
  EXPECT_EQ(deepest("1"), 0U);
  EXPECT_EQ(deepest("[]"), 0U);
  EXPECT_EQ(deepest("[1]"), 1U);
  EXPECT_EQ(deepest(R"({"a": [[], {"b": {}}], "c": "[[["})"), 3U);
}

}  // namespace
}  // namespace borescope::internal
