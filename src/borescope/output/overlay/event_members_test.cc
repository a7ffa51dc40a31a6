#include "borescope/output/overlay/event_members.h"

#include <gtest/gtest.h>

#include <utility>

namespace borescope::internal {
namespace {

std::string Member(std::string_view object, std::string_view key) {
  const auto found = FindMember(object, key);
  return found.has_value() ? std::string(*found) : "-";
}

TEST(FindMemberTest, Values) {
  constexpr std::string_view kEvent =
      R"({ "ph" : "X", "n":-1.5e3 ,"args":{"ph":"Y","l":[{"cat":1},"}"]},"s":"a\\\",\"q","cat":null})";
  EXPECT_EQ(Member(kEvent, "ph"), R"("X")");
  EXPECT_EQ(Member(kEvent, "n"), "-1.5e3");
  EXPECT_EQ(Member(kEvent, "args"), R"({"ph":"Y","l":[{"cat":1},"}"]})");
  EXPECT_EQ(Member(kEvent, "s"), R"("a\\\",\"q")");
  EXPECT_EQ(Member(kEvent, "cat"), "null");
  EXPECT_EQ(Member(kEvent, "l"), "-");
  EXPECT_EQ(Member("{}", "ph"), "-");
  EXPECT_EQ(Member("{ \n}", "ph"), "-");
}

TEST(FindMemberTest, OfSeveralTheLast) { EXPECT_EQ(Member(R"({"a":1,"a":2})", "a"), "2"); }

TEST(FindMemberTest, DamageEndsTheSearch) {
  for (const char* text :
       {"{", "{\"", "{\"a\"", "{\"a\":", "{\"a\\", "{a:1}", "{\"a\" 1}", "{,}"}) {
    EXPECT_EQ(FindMember(text, "b"), std::nullopt) << text;
  }
}

TEST(MarkedCriticalTest, TheMarkIsTheLastArgument) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {R"({"ph":"X","args":{"a":{"b":[]}},"ts":1})",
       R"({"ph":"X","args":{"a":{"b":[]}, "critical": 1},"ts":1})"},
      {R"({"args":{}})", R"({"args":{"critical": 1}})"},
      {"{\n  \"args\": {\n    \"a\": \"}\"\n  }\n}",
       "{\n  \"args\": {\n    \"a\": \"}\", \"critical\": 1\n  }\n}"},
      {"{\"args\": { }}", "{\"args\": {\"critical\": 1 }}"},
      {R"({"ph":"X" })", R"({"ph":"X", "args": {"critical": 1} })"},
      {"{}", R"({"args": {"critical": 1}})"},
      {R"({"args":null})", R"({"args":null, "critical": 1})"},
      {R"({"args":"{}"})", R"({"args":"{}", "critical": 1})"},
      {R"({"x":{"args":{}}})", R"({"x":{"args":{}}, "args": {"critical": 1}})"},
  };
  for (const auto& [event, marked] : kCases) {
    EXPECT_EQ(MarkedCritical(event), marked);
  }
}

}  // namespace
}  // namespace borescope::internal
