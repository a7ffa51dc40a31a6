#include "borescope/output/html/html_timeline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>
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

void PushRow(int64_t rank, const Window& window, Table& table) {
  for (Column& column : table.columns) {
    if (std::holds_alternative<StringValues>(column.values)) {
      Push(column, std::string_view("all"));
    } else if (std::holds_alternative<BoolValues>(column.values)) {
      Push(column, false);
    } else {
      Push(column, column.name == "rank"              ? rank
                   : column.name == "begin_offset_ns" ? window.begin_ns
                   : column.name == "end_offset_ns"   ? window.end_ns
                                                      : int64_t{0});
    }
  }
}

// The tables of ranks with these windows and nothing on them.
std::vector<Table> TablesOf(std::initializer_list<Window> windows) {
  Table timeline = NewTable(
      "timeline",
      {"rank", "span_ns", "left_out_tracks", "left_out_events", "begin_ns", "base_ns", "shift_ns"},
      {});
  Table drawn = NewTable("windows", {"rank", "begin_offset_ns", "end_offset_ns"}, {"window"});
  AddBool(drawn, "cut", Role::kDerived, "");
  Table levels = NewTable(
      "levels", {"rank", "level", "grain_ns", "begin_offset_ns", "end_offset_ns", "depths"}, {});
  int64_t rank = 0;
  for (const Window& window : windows) {
    PushRow(rank, window, timeline);
    if (window.is_there) {
      PushRow(rank, window, drawn);
    }
    PushRow(rank++, window, levels);
  }
  return {timeline,
          NewTable("tracks", {"rank", "depths", "events", "busy_ns"},
                   {"kind", "name", "parent", "unit"}),
          levels,
          NewTable("boxes",
                   {"rank", "track", "level", "depth", "begin_offset_ns", "duration_ns", "count",
                    "busy_ns", "launch_track", "launch_offset_ns"},
                   {"name", "detail", "tone"}),
          NewTable("points", {"rank", "track", "level", "begin_offset_ns"}, {}),
          drawn};
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
  EXPECT_FALSE(Has(one, R"("windows":[{"rank":0)")) << one;
  const std::string none = DocumentOf({{0, 0, false}});
  EXPECT_TRUE(Has(none, R"("window":null)")) << none;
  EXPECT_TRUE(Has(none, R"("windows":[])")) << none;
}

// Level 0 is where the windows are; an event may be in several.
TEST(HtmlTimelineTest, EachWindowIsAPieceOfLevelZero) {
  std::vector<Table> tables = TablesOf({{0, 10}, {5, 90}});
  PushRow(1, {200, 300}, tables.back());
  StringSink sink;
  EXPECT_TRUE(WriteTimeline(tables, "", sink).ok());
  for (const std::string_view piece :
       {R"({"rank":0,"level":0,"grain_ns":0,"begin_ns":0,"end_ns":10,)",
        R"({"rank":1,"level":0,"grain_ns":0,"begin_ns":5,"end_ns":90,)",
        R"({"rank":1,"level":0,"grain_ns":0,"begin_ns":200,"end_ns":300,)"}) {
    EXPECT_TRUE(Has(sink.text(), piece)) << sink.text();
  }
}

// Lengths of times that no check has seen saturate.
TEST(HtmlTimelineTest, LengthsOfWindowsSaturate) {
  const std::string document = DocumentOf({{0, 10}, {INT64_MIN, INT64_MAX}});
  EXPECT_TRUE(Has(document, R"("window":{"rank":1,)")) << document;
}

}  // namespace
}  // namespace borescope::internal
