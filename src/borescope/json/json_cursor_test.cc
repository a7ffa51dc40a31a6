#include "borescope/json/json_cursor.h"

#include <gtest/gtest.h>

#include <string>

namespace borescope::internal {

namespace {

TEST(JsonSpaceTest, FindsWhatStandsBehind) {
  EXPECT_EQ(FindNonSpace(" \n\t\rx "), 4U);
  EXPECT_EQ(FindNonSpace("a  b", 1), 3U);
  EXPECT_EQ(FindNonSpace("a  ", 1), 3U);
  EXPECT_EQ(FindNonSpace(""), 0U);
}

std::string Members(std::string_view text) {
  std::string found;
  JsonCursor cursor(text);
  std::string_view key;
  if (!cursor.EnterObject()) {
    return found;
  }
  while (cursor.NextMember(key)) {
    const std::string_view value = cursor.Value();
    if (!cursor.failed()) {
      found += std::string(key) + "=" + std::string(value) + ";";
    }
  }
  return found;
}

std::string Elements(std::string_view text) {
  std::string found;
  for (const std::string_view element : ElementsOf(text)) {
    found += std::string(element) + ";";
  }
  return found;
}

TEST(JsonCursor, MembersOfEveryKindOfValue) {
  EXPECT_EQ(Members(R"({"a":1,"b" : -2.5e3 , "c":"x,}","d":[1,{"e":"]"}],"f":{},"g":null})"),
            R"(a=1;b=-2.5e3;c="x,}";d=[1,{"e":"]"}];f={};g=null;)");
  EXPECT_EQ(Members(" {\n  \"a\" :\t1\n}"), "a=1;");
  EXPECT_EQ(Members(R"({"a\"b":"c\\"})"), R"(a\"b="c\\";)");
}

TEST(JsonCursor, WhatIsNoObjectHasNoMembers) {
  for (const char* text : {"", "{}", "[1]", "null", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":",
                           "{\"a\":}", "{\"a\":[", "{\"a\":[\"", "{\"a\":\"x", "{1:2}"}) {
    EXPECT_EQ(Members(text), "") << text;
  }
  EXPECT_EQ(Members(R"({"a":1,"b":[2)"), "a=1;");
}

TEST(ElementsOf, EveryKindOfValue) {
  EXPECT_EQ(Elements(R"([1, "a,]" ,[2, [3]], {"b": [4]},true])"),
            R"(1;"a,]";[2, [3]];{"b": [4]};true;)");
  EXPECT_EQ(Elements("[]"), "");
}

TEST(ElementsOf, EndsWhereTheTextIsDamaged) {
  for (const char* text : {"", "[", "1", "{\"a\":1}", "[,1]", "[\"a", "[[1, 2"}) {
    EXPECT_EQ(Elements(text), "") << text;
  }
  EXPECT_EQ(Elements("[1, 2"), "1;2;");
  EXPECT_EQ(Elements("[1, \"a"), "1;");
}

TEST(LooseIntValue, TakesTextsAndFractions) {
  EXPECT_EQ(LooseIntValue("12"), 12);
  EXPECT_EQ(LooseIntValue("\"123\""), 123);
  EXPECT_EQ(LooseIntValue("12.9"), 12);
  EXPECT_EQ(LooseIntValue("1e40"), std::nullopt);
  EXPECT_EQ(LooseIntValue("[]"), std::nullopt);
}

}  // namespace

}  // namespace borescope::internal
