#include "borescope/output/html/html_timeline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool is_there = true;
};

Table NewTable(std::string_view name, std::initializer_list<std::string_view> numbers,
               std::initializer_list<std::string_view> texts) {
  Table table;
  table.name = name;
  for (const std::string_view number : numbers) {
    AddInt(table, number, Unit::kNone, Role::kDerived, "");
  }
  for (const std::string_view text : texts) {
    AddString(table, text, Role::kDerived, "");
  }
  return table;
}

void PushRank(int64_t rank, const Window& window, Table& table) {
  for (Column& column : table.columns) {
    if (column.name == "window") {
      Push(column, std::string_view("all"));
    } else if (column.name == "window_cut") {
      Push(column, false);
    } else if (column.name.starts_with("window_") && !window.is_there) {
      PushMissing(column);
    } else if (column.name.starts_with("window_")) {
      Push(column, column.name == "window_begin_offset_ns" ? window.begin_ns : window.end_ns);
    } else {
      Push(column, column.name == "rank" ? rank : int64_t{0});
    }
  }
}

// The tables of ranks with these windows and nothing on them.
std::vector<Table> TablesOf(std::initializer_list<Window> windows) {
  Table timeline =
      NewTable("timeline",
               {"rank", "span_ns", "window_begin_offset_ns", "window_end_offset_ns",
                "left_out_tracks", "left_out_events", "begin_ns", "base_ns", "shift_ns"},
               {"window"});
  AddBool(timeline, "window_cut", Role::kDerived, "");
  int64_t rank = 0;
  for (const Window& window : windows) {
    PushRank(rank++, window, timeline);
  }
  return {timeline,
          NewTable("tracks", {"rank", "depths", "events", "busy_ns"},
                   {"kind", "name", "parent", "unit"}),
          NewTable("levels", {"rank", "level"}, {}),
          NewTable("boxes",
                   {"rank", "track", "level", "depth", "begin_offset_ns", "duration_ns", "count",
                    "busy_ns", "launch_track", "launch_offset_ns"},
                   {"name", "detail", "tone"}),
          NewTable("points", {"rank", "track", "level", "begin_offset_ns"}, {})};
}

std::string DocumentOf(std::initializer_list<Window> windows) {
  StringSink sink;
  EXPECT_TRUE(WriteTimeline(TablesOf(windows), "", sink).ok());
  return sink.text();
}

bool Has(const std::string& document, std::string_view part) {
  return document.find(part) != std::string::npos;
}

TEST(HtmlTimelineTest, TheLongestWindowComesFirst) {
  const std::string document = DocumentOf({{0, 10}, {5, 90}, {0, 20}});
  EXPECT_TRUE(Has(document, R"("window":{"rank":1,"begin_ns":5,"end_ns":90)")) << document;
}

TEST(HtmlTimelineTest, RanksWithoutAWindowHaveNone) {
  const std::string one = DocumentOf({{0, 0, false}, {5, 90}});
  EXPECT_TRUE(Has(one, R"("window":{"rank":1,)")) << one;
  EXPECT_FALSE(Has(one, R"("rank":0)")) << one;
  const std::string none = DocumentOf({{0, 0, false}});
  EXPECT_TRUE(Has(none, R"("window":null)")) << none;
  EXPECT_TRUE(Has(none, R"("windows":[])")) << none;
}

// Lengths of times that no check has seen saturate.
TEST(HtmlTimelineTest, LengthsOfWindowsSaturate) {
  const std::string document = DocumentOf({{0, 10}, {INT64_MIN, INT64_MAX}});
  EXPECT_TRUE(Has(document, R"("window":{"rank":1,)")) << document;
}

}  // namespace
}  // namespace borescope::internal
