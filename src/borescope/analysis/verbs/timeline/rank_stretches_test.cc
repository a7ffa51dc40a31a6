#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/timeline/make_timeline.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"
#include "borescope/catalog/catalog.h"
#include "borescope/table/table_ops.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kPlenty = 100'000'000;

TestTrace BusyTrace() {
  TestTrace trace;
  for (int i = 0; i < 3000; ++i) {
    const int64_t begin_ns = 7000 + 5000 * i + i % 7 * 100;
    trace.Op("aten::op" + std::to_string(i % 37), {begin_ns, 3000});
    trace.Launched("kernel" + std::to_string(i % 11), {begin_ns + 100, 500},
                   {begin_ns + 1000, 3500 - i % 5 * 700}, {i + 1, 7, 0});
    trace.Memory({.ts_ns = begin_ns, .bytes = 1, .allocated = i});
  }
  return trace;
}

// What the verb draws of everything, at all levels.
std::vector<Timeline> DrawAll(TestTrace& trace) {
  Params params;
  params.values.push_back({kTimelineDetailParam.name, 0, "full"});
  return TimelinesOf(Analyse("timeline", {&trace.View()}, params));
}

// The boxes of a level that touch the span, a line each, of what can be seen of them.
std::vector<std::string> BoxesIn(const Timeline& timeline, int64_t level, const TimeSpan& span) {
  std::vector<std::string> lines;
  for (const DrawnBox& box : timeline.boxes) {
    if (box.level != level || box.begin_ns > span.end_ns ||
        box.begin_ns + box.duration_ns < span.begin_ns) {
      continue;
    }
    std::string line(timeline.texts.Get(box.name));
    if (box.detail.valid()) {
      line += timeline.texts.Get(box.detail);
    }
    for (const int64_t value : {box.track, box.depth, box.begin_ns, box.duration_ns, box.count,
                                box.busy_ns, box.launch_track, box.launch_ns}) {
      line += " " + std::to_string(value);
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> PointsIn(const Timeline& timeline, int64_t level, const TimeSpan& span) {
  std::vector<std::string> lines;
  for (const DrawnPoint& point : timeline.points) {
    if (point.level == level && point.begin_ns >= span.begin_ns && point.begin_ns <= span.end_ns) {
      lines.push_back(std::to_string(point.track) + " " + std::to_string(point.begin_ns) + " " +
                      std::to_string(point.low) + " " + std::to_string(point.high) + " " +
                      std::to_string(point.last));
    }
  }
  return lines;
}

void ExpectSame(const Timeline& drawn, const Timeline& all, int64_t level, const TimeSpan& span) {
  ASSERT_EQ(drawn.levels.size(), 1U);
  EXPECT_EQ(drawn.levels.front().level, level);
  EXPECT_EQ(BoxesIn(drawn, level, kWholeRecording), BoxesIn(all, level, span)) << level;
  EXPECT_EQ(PointsIn(drawn, level, kWholeRecording), PointsIn(all, level, span)) << level;
  EXPECT_FALSE(drawn.boxes.empty());
}

TEST(RankStretchesTest, EveryStretchIsThatOfTheWhole) {
  TestTrace trace = BusyTrace();
  const std::vector<Timeline> all = DrawAll(trace);
  const Result<RankStretches> stretches = RankStretches::Make(trace.View(), {});
  ASSERT_TRUE(stretches.ok());
  for (const TimeSpan& span :
       {TimeSpan{0, 100}, TimeSpan{5000, 5000}, TimeSpan{4'000'000, 4'100'003},
        TimeSpan{14'900'000, 16'000'000}, TimeSpan{0, INT64_MAX}}) {
    ExpectSame(stretches->Draw({span, 0}, kPlenty), all.front(), 0, span);
  }
}

TEST(RankStretchesTest, WhatDoesNotFitIsMergedAsInTheWhole) {
  TestTrace trace = BusyTrace();
  const std::vector<Timeline> all = DrawAll(trace);
  const Result<RankStretches> stretches = RankStretches::Make(trace.View(), {});
  ASSERT_TRUE(stretches.ok());
  const TimeSpan span{2'000'000, 9'000'003};
  int64_t before = 0;
  for (const int64_t room : {100'000, 40'000, 12'000, 3'000, 800}) {
    const Timeline drawn = stretches->Draw({span, 0}, room);
    ASSERT_EQ(drawn.levels.size(), 1U) << room;
    const int64_t level = drawn.levels.front().level;
    EXPECT_GE(level, std::max<int64_t>(1, before));
    EXPECT_LE(drawn.levels.front().bytes, room);
    ExpectSame(drawn, all.front(), level, span);
    before = level;
  }
  EXPECT_GT(before, 3);
  EXPECT_TRUE(stretches->Draw({span, 0}, 10).levels.empty());
}

TEST(RankStretchesTest, NoLevelIsFinerThanTheGrainNeeds) {
  TestTrace trace = BusyTrace();
  const RankView& view = trace.View();
  const Result<RankStretches> stretches = RankStretches::Make(view, {});
  ASSERT_TRUE(stretches.ok());
  const TimeSpan span{2'000'000, 9'000'000};
  const auto level = [&](int64_t grain_ns) {
    return stretches->Draw({span, grain_ns}, 100'000).levels.front().level;
  };
  EXPECT_EQ(level(63'999), 3);
  EXPECT_EQ(level(64'000), 4);
  EXPECT_EQ(level(INT64_MAX), CoarsestLevelOf(view.trace.span_ns()));
  EXPECT_EQ(stretches->Draw({span, INT64_MAX}, kPlenty).levels.front().level, 0);
}

TEST(RankStretchesTest, OutsideOfTheRecordingThereIsNothing) {
  TestTrace trace = BusyTrace();
  const Result<RankStretches> stretches = RankStretches::Make(trace.View(), {});
  ASSERT_TRUE(stretches.ok());
  for (const TimeSpan& span : {TimeSpan{INT64_MIN, -1}, TimeSpan{INT64_MAX, INT64_MAX}}) {
    const Timeline drawn = stretches->Draw({span, 0}, kPlenty);
    EXPECT_TRUE(drawn.levels.empty());
    EXPECT_TRUE(drawn.boxes.empty());
    EXPECT_FALSE(drawn.tracks.empty());
  }
}

}  // namespace
}  // namespace borescope::internal
