#include "borescope/json/object_members.h"

#include <gtest/gtest.h>

#include <string>

namespace borescope::internal {
namespace {

std::string Members(std::string_view text) {
  std::string found;
  for (ObjectMembers members(text); members.Next();) {
    found += std::string(members.key()) + "=" + std::string(members.value()) + ";";
  }
  return found;
}

TEST(ObjectMembersTest, EveryKindOfValue) {
  EXPECT_EQ(Members(R"({"a":1,"b" : -2.5e3 , "c":"x,}","d":[1,{"e":"]"}],"f":{},"g":null})"),
            R"(a=1;b=-2.5e3;c="x,}";d=[1,{"e":"]"}];f={};g=null;)");
  EXPECT_EQ(Members(" {\n  \"a\" :\t1\n}"), "a=1;");
  EXPECT_EQ(Members(R"({"a\"b":"c\\"})"), R"(a\"b="c\\";)");
}

TEST(ObjectMembersTest, WhatIsNoObjectHasNoMembers) {
  for (const char* text : {"", "{}", "[1]", "null", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":",
                           "{\"a\":}", "{\"a\":[", "{\"a\":[\"", "{\"a\":\"x", "{1:2}"}) {
    EXPECT_EQ(Members(text), "") << text;
  }
  EXPECT_EQ(Members(R"({"a":1,"b":[2)"), "a=1;");
}

}  // namespace
}  // namespace borescope::internal
