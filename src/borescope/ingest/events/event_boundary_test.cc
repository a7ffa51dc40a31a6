#include "borescope/ingest/events/event_boundary.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

// The text from the cut on, or "nowhere".
std::string_view CutOf(std::string_view text) {
  const size_t cut = FindEventBoundary(text);
  return cut == std::string_view::npos ? "nowhere" : text.substr(cut);
}

TEST(FindEventBoundaryTest, CompactText) {
  EXPECT_EQ(CutOf(R"([{"ph":"X","ts":1},{"ph":"X","ts":2},{"ph":"X","t)"), R"({"ph":"X","t)");
  EXPECT_EQ(CutOf(R"({"ph":"X"},{"name":"a"})"), R"({"name":"a"})");
}

// Kineto's own layout, with a blank line inside events.
TEST(FindEventBoundaryTest, PrettyText) {
  EXPECT_EQ(CutOf("  {\n    \"ph\": \"X\",\n    \"args\": {\n      \"a\": 1\n    }\n  },\n"
                  "  {\n    \"ph\": \"f\", \"id\": 7"),
            "{\n    \"ph\": \"f\", \"id\": 7");
  EXPECT_EQ(CutOf("}\r\n\t,\r\n\t{\r\n\t\"cat\": 1"), "{\r\n\t\"cat\": 1");
}

TEST(FindEventBoundaryTest, EveryKeyAnEventMayStartWith) {
  for (const char* key : {"ph", "name", "cat", "pid", "tid", "ts"}) {
    const std::string event = std::string("{\"") + key + "\":1";
    EXPECT_EQ(CutOf("}," + event), event);
  }
}

// At least one event of the text has to precede the cut: the rest is never the whole text.
TEST(FindEventBoundaryTest, NowhereToCut) {
  for (const char* text : {"", ",", "{", R"({"ph":"X"})", R"(,{"ph":"X"})", R"( ,{"ph":"X"})",
                           R"([{"ph":"X"})", R"({"ph":"X"} {"ph":"X"})", R"([1],{"ph":"X"})",
                           R"(},)", R"(}, )", R"(},{)", R"(},{ )", R"(},{"p)", R"(},[{"ph":1}])"}) {
    EXPECT_EQ(CutOf(text), "nowhere") << text;
  }
}

TEST(FindEventBoundaryTest, ObjectsWithOtherKeysAreNoEvents) {
  EXPECT_EQ(CutOf(R"({"ph":"X"},{"ph":"X","args":{"list":[{"x":1},{"x":2},{"y":3}]}})"),
            R"({"ph":"X","args":{"list":[{"x":1},{"x":2},{"y":3}]}})");
}

// A guess may be wrong: the pipeline finds out and puts the text back.
TEST(FindEventBoundaryTest, AListOfNamedObjectsIsTakenForEvents) {
  EXPECT_EQ(CutOf(R"({"ph":"X","args":{"list":[{"name":1},{"name":2)"), R"({"name":2)");
}

}  // namespace
}  // namespace borescope::internal
