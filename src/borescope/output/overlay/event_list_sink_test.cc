#include "borescope/output/overlay/event_list_sink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace borescope::internal {
namespace {

// In pieces of `size` bytes.
std::string Copied(std::string_view text, const OverlayMarks& marks, size_t size = 1000) {
  StringSink target;
  EventListSink list(target, marks);
  for (size_t at = 0; at < text.size(); at += size) {
    EXPECT_TRUE(list.Write(text.substr(at, size)).ok());
  }
  EXPECT_TRUE(list.is_complete());
  EXPECT_EQ(list.has_events(), target.text().find('{') != std::string::npos);
  return target.text();
}

constexpr std::string_view kEvents =
    R"({"ph":"M","name":"a\"}{"}, {"ph":"X","cat":"k","args":{"x":[{}]}},)"
    "\n"
    R"({"ph":"X","cat":"user_annotation"},{"ph":"X"} , {"ph":"s","cat":"k"})";

TEST(EventListSinkTest, MarksByPosition) {
  const std::string marked =
      R"({"ph":"M","name":"a\"}{"}, {"ph":"X","cat":"k","args":{"x":[{}], "critical": 1}},)"
      "\n"
      R"({"ph":"X","cat":"user_annotation"},{"ph":"X", "args": {"critical": 1}} , )"
      R"({"ph":"s","cat":"k"})";
  OverlayMarks marks;
  marks.critical = {1, 3};
  for (const size_t size : {1U, 2U, 7U, 1000U}) {
    EXPECT_EQ(Copied(kEvents, marks, size), marked);
  }
}

TEST(EventListSinkTest, LeavesOutWhatIsNotCritical) {
  OverlayMarks marks;
  marks.only_critical = true;
  EXPECT_EQ(Copied(kEvents, marks), R"({"ph":"M","name":"a\"}{"} , {"ph":"s","cat":"k"})");
  marks.kept_categories = {"user_annotation"};
  marks.critical = {3};
  EXPECT_EQ(Copied(kEvents, marks),
            R"({"ph":"M","name":"a\"}{"},)"
            "\n"
            R"({"ph":"X","cat":"user_annotation"},{"ph":"X", "args": {"critical": 1}} , )"
            R"({"ph":"s","cat":"k"})");
}

TEST(EventListSinkTest, WithoutItsFirstEventsTheListBeginsWithoutAComma) {
  OverlayMarks marks;
  marks.only_critical = true;
  EXPECT_EQ(Copied(R"({"ph":"X"},{"ph":"X"}, {"ph":"M"},{"ph":"X"},{"ph":"C"})", marks),
            R"( {"ph":"M"},{"ph":"C"})");
  EXPECT_EQ(Copied(R"({"ph":"X"},{"ph":"X"})", marks), "");
}

TEST(EventListSinkTest, SaysWhetherAllWasThere) {
  OverlayMarks marks;
  marks.critical = {1};
  StringSink target;
  EventListSink list(target, marks);
  ASSERT_TRUE(list.Write("{}").ok());
  EXPECT_FALSE(list.is_complete());
  ASSERT_TRUE(list.Write(",{").ok());
  EXPECT_FALSE(list.is_complete());
  ASSERT_TRUE(list.Write("}").ok());
  EXPECT_TRUE(list.is_complete());
}

}  // namespace
}  // namespace borescope::internal
