#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"
#include "borescope/analysis/verbs/timeline/tracks.h"
#include "borescope/catalog/catalog.h"
#include "borescope/table/table_ops.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

enum Tables6 : uint8_t { kSummary, kTracks, kLevels, kBoxes, kPoints, kWindows };

Tables Draw(std::initializer_list<const RankView*> views, const Params& params = {}) {
  return Analyse("timeline", views, params);
}

Params WithSize(int64_t bytes) {
  Params params;
  params.values.push_back({kTimelineSizeParam.name, bytes, ""});
  return params;
}

// Everything, whatever its size.
Params Full() {
  Params params;
  params.values.push_back({kTimelineDetailParam.name, 0, "full"});
  return params;
}

// The boxes of a track and level: "depth:begin+duration name".
std::vector<std::string> BoxesOf(const Table& boxes, int64_t track, int64_t level) {
  std::vector<std::string> lines;
  for (size_t row = 0; row < boxes.rows(); ++row) {
    if (Ints(boxes, "track")[row] == track && Ints(boxes, "level")[row] == level) {
      lines.push_back(std::to_string(Ints(boxes, "depth")[row]) + ":" +
                      std::to_string(Ints(boxes, "begin_offset_ns")[row]) + "+" +
                      std::to_string(Ints(boxes, "duration_ns")[row]) + " " +
                      Texts(boxes, "name")[row]);
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(TimelineTest, TracksOfEveryKind) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#3", {0, 9000}).Op("aten::mm", {100, 500});
  trace.Launched("gemm", {200, 50}, {400, 3000}, {1, 7, 0});
  trace.Runtime("cudaLaunchKernel", {300, 50}, 2);
  trace.Kernel("ncclDevKernel_AllReduce", {3500, 500}, {2, 9, 0}, {.name = "allreduce"});
  trace.Memory({.ts_ns = 150, .bytes = 64, .allocated = 64, .reserved = 128});
  const Tables tables = Draw({&trace.View()});
  EXPECT_EQ(Csv(tables[kTracks], {"track", "kind", "name", "parent", "depths", "events", "unit"}),
            "track,kind,name,parent,depths,events,unit\n"
            "0,steps,steps,-,1,1,-\n"
            "1,path,critical path,-,1,7,-\n"
            "2,thread,thread 1,process 1,3,4,-\n"
            "3,stream,stream 7,GPU 0,1,1,-\n"
            "4,stream,stream 9,GPU 0,1,1,-\n"
            "5,group,group 0 (default_pg),-,1,1,-\n"
            "6,counter,memory allocated,GPU 0,0,1,bytes\n"
            "7,counter,memory reserved,GPU 0,0,1,bytes\n"
            "8,counter,queue of stream 7,GPU 0,0,2,launches\n"
            "9,counter,queue of stream 9,GPU 0,0,2,launches\n");
  EXPECT_EQ(BoxesOf(tables[kBoxes], 2, 0),
            (Lines{"0:0+9000 ProfilerStep#3", "1:100+500 aten::mm", "2:200+50 cudaLaunchKernel",
                   "2:300+50 cudaLaunchKernel"}));
}

TEST(TimelineTest, WorkKnowsItsLaunch) {
  TestTrace trace;
  trace.Op("aten::mm", {100, 500}).Launched("gemm", {200, 50}, {400, 3000}, {1, 7, 0});
  const Tables tables = Draw({&trace.View()});
  const Table& boxes = tables[kBoxes];
  for (size_t row = 0; row < boxes.rows(); ++row) {
    if (Texts(boxes, "name")[row] == "gemm" && Ints(boxes, "track")[row] == 2 &&
        Ints(boxes, "level")[row] == 0) {
      EXPECT_EQ(Ints(boxes, "launch_track")[row], 1);
      EXPECT_EQ(Ints(boxes, "launch_offset_ns")[row], 100);  // the recording begins at 100
      return;
    }
  }
  FAIL() << "no box of the kernel";
}

TEST(TimelineTest, ShortEventsBecomeOneBox) {
  TestTrace trace;
  trace.Kernel("a", {0, 300}).Kernel("b", {400, 500}).Kernel("long", {1500, 2000});
  trace.Kernel("a", {3600, 100}).Kernel("b", {5000, 100}).Kernel("a", {5200, 100});
  const Tables tables = Draw({&trace.View()}, Full());
  // The stream is the last track of events; level 1 has a grain of 1 us.
  EXPECT_EQ(BoxesOf(tables[kBoxes], 1, 1),
            (Lines{"0:0+900 b", "0:1500+2000 long", "0:3600+100 a", "0:5000+300 b"}));
  // 4 us: a box is full as soon as it is that long.
  EXPECT_EQ(BoxesOf(tables[kBoxes], 1, 2), (Lines{"0:0+5100 long", "0:5200+100 a"}));
}

TEST(TimelineTest, CountersKeepTheirBounds) {
  TestTrace trace;
  trace.Op("aten::empty", {0, 5000});
  for (const auto& [ts_ns, bytes] : {std::pair(0, 10), {100, 90}, {200, 30}, {4200, 50}}) {
    trace.Memory({.ts_ns = ts_ns, .bytes = 1, .allocated = bytes});
  }
  const Table points = Draw({&trace.View()}, Full())[kPoints];
  EXPECT_EQ(Csv(Head(points, 6), {"level", "begin_offset_ns", "low", "high", "last"}),
            "level,begin_offset_ns,low,high,last\n"
            "0,0,10,10,10\n0,100,90,90,90\n0,200,30,30,30\n0,4200,50,50,50\n"
            "1,0,10,90,30\n1,4200,50,50,50\n");
}

// What is left of a timeline with such levels, of 1 us, and a box at each.
std::string LevelsLeft(std::vector<DrawnLevel> levels) {
  Timeline timeline;
  timeline.span_ns = 1000;
  timeline.levels = std::move(levels);
  if (const DrawnLevel& finest = timeline.levels.front(); finest.level == 0) {
    timeline.windows = {{0, finest.end_ns, "all"}};
  }
  for (const DrawnLevel& level : timeline.levels) {
    timeline.boxes.emplace_back().level = level.level;
  }
  DropRedundantLevels(timeline);
  std::string left;
  for (const DrawnLevel& level : timeline.levels) {
    left += std::to_string(level.level) + " ";
  }
  for (const DrawnBox& box : timeline.boxes) {
    left += ":" + std::to_string(box.level);
  }
  return left;
}

// One that has as many boxes as the next coarser one, or nearly as many, shows no more.
TEST(TimelineTest, LevelsThatLookTheSameAreLeftOut) {
  std::vector<DrawnLevel> levels = {{.level = 0, .end_ns = 500, .boxes = 300},
                                    {.level = 1, .boxes = 400},
                                    {.level = 2, .boxes = 399},
                                    {.level = 3, .boxes = 300},
                                    {.level = 4, .boxes = 300},
                                    {.level = 5, .boxes = 10}};
  EXPECT_EQ(LevelsLeft(levels), "0 4 5 :0:4:5");
  levels[1].boxes = 401;
  EXPECT_EQ(LevelsLeft(levels), "0 1 4 5 :0:1:4:5");
  // Where level 0 has everything, it is what finer levels would look like.
  levels[0].end_ns = 1000;
  levels[4].boxes = 150;
  EXPECT_EQ(LevelsLeft(levels), "0 4 5 :0:4:5");
  levels[4].boxes = 151;
  EXPECT_EQ(LevelsLeft(levels), "0 5 :0:5");
  EXPECT_EQ(LevelsLeft({{.level = 7, .boxes = 10}}), "7 :7");
}

// Events that overlap, nested and not: no two of one depth do.
TEST(DepthFinderTest, OverlapsGoDeeper) {
  const auto place = [](std::initializer_list<std::pair<int64_t, int64_t>> events) {
    DepthFinder finder;
    std::string depths;
    for (const auto& [begin_ns, end_ns] : events) {
      depths += std::to_string(finder.Place(begin_ns, end_ns));
    }
    return depths;
  };
  EXPECT_EQ(place({{0, 10}, {0, 5}, {5, 10}, {6, 7}, {10, 12}}), "01120");
  EXPECT_EQ(place({{0, 10}, {9, 20}, {19, 30}, {29, 40}}), "0101");  // a chain needs two
  EXPECT_EQ(place({{0, 10}, {5, 20}, {6, 8}, {12, 15}}), "0122");
  EXPECT_EQ(place({{5, 5}, {5, 5}, {5, 9}}), "000");
}

TestTrace Busy(int64_t offset_ns, int kernels) {
  TestTrace trace;
  for (int i = 0; i < kernels; ++i) {
    const int64_t begin_ns = offset_ns + int64_t{5000} * i;
    trace.Op("aten::op" + std::to_string(i % 37), {begin_ns, 3000});
    trace.Launched("kernel" + std::to_string(i % 11), {begin_ns + 100, 500},
                   {begin_ns + 1000, 3500}, {i + 1, 7, 0});
  }
  return trace;
}

// What fits a smaller share is the same, whether or not a larger one was applied before.
TEST(FitPageTest, CutsOfCutsAreCuts) {
  TestTrace trace = Busy(0, 2500);
  const Tables all = Draw({&trace.View()}, WithSize(100'000'000));
  for (const int64_t first : {900'000, 300'000, 80'000, 20'000}) {
    for (const int64_t second : {180'000, 70'000, 9'000, 2'000}) {
      if (second > first) {
        continue;
      }
      std::vector<Timeline> once = TimelinesOf(all);
      std::vector<Timeline> twice = TimelinesOf(all);
      FitPage(once[0], second);
      FitPage(twice[0], first);
      FitPage(twice[0], second);
      const Tables a = TimelineTables(std::move(once));
      const Tables b = TimelineTables(std::move(twice));
      for (const Tables6 table : {kLevels, kBoxes, kPoints, kWindows}) {
        EXPECT_EQ(Csv(a[table]), Csv(b[table])) << first << " " << second;
      }
    }
  }
}

TEST(FitPageTest, NoMoreThanItsShare) {
  TestTrace trace = Busy(0, 6000);
  for (const int64_t size : {3'000'000, 400'000, 90'000, 10'000}) {
    const Tables tables = Draw({&trace.View()}, WithSize(size));
    EXPECT_LE(SumOf(tables[kLevels], "bytes"), size);
    EXPECT_GT(tables[kBoxes].rows(), 0U);
  }
}

// Whether a window is there with level 0, and ends after it begins; or neither is there.
void ExpectSoundWindows(const Tables& tables, int64_t size) {
  const Table& summary = tables[kSummary];
  for (size_t row = 0; row < summary.rows(); ++row) {
    const Column& begins = *summary.Find("window_begin_offset_ns");
    const std::string rank = std::to_string(Ints(summary, "rank")[row]) + ",0\n";
    const bool has_exact =
        ("\n" + Csv(tables[kLevels], {"rank", "level"})).find("\n" + rank) != std::string::npos;
    EXPECT_EQ(has_exact, !begins.IsMissing(row)) << size;
    if (has_exact) {
      EXPECT_LT(Ints(summary, "window_begin_offset_ns")[row],
                Ints(summary, "window_end_offset_ns")[row])
          << size;
    }
  }
  const Table& levels = tables[kLevels];
  for (size_t row = 0; row < levels.rows(); ++row) {
    EXPECT_LE(Ints(levels, "begin_offset_ns")[row], Ints(levels, "end_offset_ns")[row]) << size;
  }
}

// Steps, and an operator around all of them, which begins long before the window.
TestTrace Stepped(int64_t offset_ns) {
  TestTrace trace;
  trace.Op("outermost", {offset_ns, 400'000'000});
  for (int step = 0; step < 4; ++step) {
    const int64_t begin_ns = offset_ns + int64_t{100'000'000} * step;
    trace.Annotation("ProfilerStep#" + std::to_string(step), {begin_ns, 90'000'000 + step});
    for (int i = 0; i < 6000; ++i) {
      trace.Kernel("kernel" + std::to_string(i % 5), {begin_ns + int64_t{5000} * i, 3000});
    }
  }
  return trace;
}

// Of several windows the last ones go first, whether or not a larger share was applied before.
TEST(FitPageTest, CutsOfSeveralWindowsAreCuts) {
  TestTrace trace = Stepped(0);
  Tables several = Draw({&trace.View()}, WithSize(100'000'000));
  several[kWindows] = TakeRows(several[kWindows], std::vector<uint32_t>(4, 0));
  const std::vector<std::pair<int64_t, int64_t>> windows = {{100'000'000, 101'000'000},
                                                            {205'000'000, 211'000'000},
                                                            {110'000'000, 125'000'000},
                                                            {0, 390'000'003}};
  for (size_t row = 0; row < windows.size(); ++row) {
    std::get<IntValues>(several[kWindows].Find("begin_offset_ns")->values)[row] =
        windows[row].first;
    std::get<IntValues>(several[kWindows].Find("end_offset_ns")->values)[row] = windows[row].second;
  }
  ASSERT_TRUE(CheckTimelineTables(several, {}).ok());
  for (const int64_t first : {170'000, 90'000}) {
    for (const int64_t second : {120'000, 80'000, 2'000}) {
      if (second > first) {
        continue;
      }
      std::vector<Timeline> once = TimelinesOf(several);
      std::vector<Timeline> twice = TimelinesOf(several);
      FitPage(once[0], second);
      FitPage(twice[0], first);
      FitPage(twice[0], second);
      const Tables a = TimelineTables(std::move(once));
      const Tables b = TimelineTables(std::move(twice));
      for (const Tables6 table : {kLevels, kBoxes, kPoints, kWindows}) {
        EXPECT_EQ(Csv(a[table]), Csv(b[table])) << first << " " << second;
      }
    }
  }
}

// Every event that overlaps a window is there, by a plain search in what is drawn of everything.
void ExpectWholeWindows(const Tables& tables, const Tables& full) {
  const auto key = [](const Table& boxes, size_t row) {
    return std::to_string(Ints(boxes, "track")[row]) + "/" +
           std::to_string(Ints(boxes, "depth")[row]) + "/" +
           std::to_string(Ints(boxes, "begin_offset_ns")[row]);
  };
  std::set<std::string> drawn;
  for (size_t row = 0; row < tables[kBoxes].rows(); ++row) {
    if (Ints(tables[kBoxes], "level")[row] == 0) {
      drawn.insert(key(tables[kBoxes], row));
    }
  }
  const Table& windows = tables[kWindows];
  const Table& boxes = full[kBoxes];
  for (size_t row = 0; row < boxes.rows(); ++row) {
    const int64_t begin_ns = Ints(boxes, "begin_offset_ns")[row];
    const int64_t end_ns = begin_ns + Ints(boxes, "duration_ns")[row];
    for (size_t window = 0; window < windows.rows(); ++window) {
      if (Ints(boxes, "level")[row] == 0 && begin_ns < Ints(windows, "end_offset_ns")[window] &&
          end_ns > Ints(windows, "begin_offset_ns")[window]) {
        EXPECT_TRUE(drawn.contains(key(boxes, row))) << key(boxes, row);
      }
    }
  }
}

// Where findings lead comes before the rest of the recording, what is short first; a larger page
// has more of it, and a large one all.
TEST(FitPageTest, PlacesOfFindingsAreExactFirst) {
  TestTrace trace = Stepped(0);
  const Tables full = Draw({&trace.View()}, Full());
  const auto is_all = [](const Tables& tables) {
    return Csv(tables[kWindows], {"window", "cut"}) == "window,cut\nall,no\n";
  };
  size_t windows_before = 0;
  for (const int64_t size : {80'000, 100'000, 140'000, 3'000'000}) {
    const Tables tables = Draw({&trace.View()}, WithSize(size));
    ExpectWholeWindows(tables, full);
    EXPECT_EQ(is_all(tables), size == 3'000'000) << size;
    EXPECT_TRUE(is_all(tables) || tables[kWindows].rows() >= windows_before) << size;
    windows_before = tables[kWindows].rows();
  }
  const std::string some = Csv(Draw({&trace.View()}, WithSize(100'000))[kWindows], {"window"});
  EXPECT_TRUE(some.starts_with("window\nlongest run of a kernel with much time\n")) << some;
  EXPECT_NE(some.find("\nlongest idle time: "), std::string::npos) << some;
}

TEST(FitPageTest, WindowsNeverEndBeforeTheyBegin) {
  TestTrace first = Stepped(1000);
  TestTrace second = Stepped(70'000);
  for (const int64_t size : {1, 1000, 64'000, 65'000, 66'000, 70'000, 128'500, 131'000, 140'000,
                             200'000, 300'000, 900'000, 30'000'000}) {
    ExpectSoundWindows(Draw({&first.View(0)}, WithSize(size)), size);
    ExpectSoundWindows(Draw({&first.View(0), &second.View(1)}, WithSize(size)), size);
  }
  const Table nothing = Draw({&first.View(0)}, WithSize(1))[kSummary];
  EXPECT_EQ(Csv(nothing, {"window", "window_begin_offset_ns", "window_cut"}),
            "window,window_begin_offset_ns,window_cut\n-,-,yes\n");
}

TEST(TimelineTest, RanksShareTheSizeAndAClock) {
  TestTrace first = Busy(1000, 2000);
  TestTrace second = Busy(500'000, 2000);
  first.meta().base_ns = 1'700'000'000'000'000'000;
  second.meta().base_ns = 1'700'000'000'000'000'000;
  const Tables tables = Draw({&first.View(0), &second.View(1)}, WithSize(300'000));
  EXPECT_EQ(Csv(tables[kSummary], {"rank", "begin_ns", "shift_ns"}),
            "rank,begin_ns,shift_ns\n0,1000,0\n1,500000,499000\n");
  EXPECT_LE(SumOf(tables[kLevels], "bytes"), 300'000);
}

// Busy threads do not drive out what there is one of, or tracks of another kind.
TEST(TimelineTest, TracksOfEachKindAreLimited) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {0, 9000});
  for (int64_t thread = 1; thread <= 200; ++thread) {
    for (int64_t i = 0; i < (thread == 7 ? 1 : 5); ++i) {
      trace.Op("aten::mm", {100 * i, 50}, {}, 1000 + thread);
    }
  }
  for (int64_t stream = 0; stream < 3; ++stream) {
    trace.Kernel("gemm", {500 + stream, 100}, {kMissing, stream, 0});
  }
  const Tables tables = Draw({&trace.View()}, WithSize(3'000'000));
  std::map<std::string, int> kinds;
  for (size_t row = 0; row < tables[kTracks].rows(); ++row) {
    ++kinds[Texts(tables[kTracks], "kind")[row]];
    EXPECT_NE(Texts(tables[kTracks], "name")[row], "thread 1007");  // with the fewest events
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{
                       {"steps", 1}, {"path", 1}, {"thread", 128}, {"stream", 3}}));
  EXPECT_EQ(Csv(tables[kSummary], {"left_out_tracks"}), "left_out_tracks\n73\n");
}

// Of a process the threads that launch work come first, though others are busier.
TEST(TimelineTest, RowsOfWhatLaunchesComeFirst) {
  TestTrace trace;
  for (int64_t i = 0; i < 9; ++i) {
    trace.Op("aten::mm", {100 * i, 50}, {}, 5);
  }
  trace.Runtime("cudaLaunchKernel", {100, 50}, 1, 8).Kernel("gemm", {500, 100}, {1, 7, 0});
  const Tables tables = Draw({&trace.View()});
  EXPECT_EQ(Csv(tables[kTracks], {"track", "name"}),
            "track,name\n0,critical path\n1,thread 8\n2,thread 5\n3,stream 7\n"
            "4,queue of stream 7\n");
  const Table& boxes = tables[kBoxes];
  int calls = 0;
  for (size_t row = 0; row < boxes.rows(); ++row) {
    if (Ints(boxes, "track")[row] == 1) {
      EXPECT_EQ(Texts(boxes, "tone")[row], "host");
      ++calls;
    }
  }
  EXPECT_GT(calls, 0);
}

// A text costs what the page writes of it: 10,000 characters, however many bytes each has.
TEST(PageCostTest, LongTextsCountByCharacter) {
  const auto cost_of = [](std::string_view text) {
    StringPool texts;
    DrawnBox box;
    box.name = texts.Intern(text);
    PageCost cost(texts);
    cost.Add(box);
    return cost.bytes();
  };
  std::string wide;
  for (int i = 0; i < 12000; ++i) {
    wide += "\u00e9";  // two bytes
  }
  EXPECT_EQ(cost_of(wide) - cost_of(std::string(12000, 'x')), 10000);
}

// A name at several levels is in the page once.
TEST(MeasureLevelsTest, ATextCountsAtOneLevel) {
  Timeline timeline;
  const StringId name = timeline.texts.Intern(std::string(5000, 'x'));
  for (const int64_t level : {0, 4, 7}) {
    DrawnBox box;
    box.level = level;
    box.name = name;
    timeline.boxes.push_back(box);
    timeline.levels.push_back({.level = level});
  }
  MeasureLevels(timeline);
  PageCost alone(timeline.texts);
  alone.Add(timeline.boxes.back());
  EXPECT_EQ(timeline.levels[2].bytes, alone.bytes());  // the coarsest
  EXPECT_GT(timeline.levels[2].bytes, 5000);
  for (const size_t finer : {0U, 1U}) {
    EXPECT_GT(timeline.levels[finer].bytes, 0);
    EXPECT_LT(timeline.levels[finer].bytes, 200);
    EXPECT_EQ(timeline.levels[finer].boxes, 1);
  }
}

// Whatever is drawn besides: a place that is asked for is the first that is exact, also where there
// is room for little more.
TEST(TimelineTest, PlacesOfFindingsAreExactFirst) {
  TestTrace trace = Busy(1000, 15'000);
  const Interval place{40'001'000, 40'031'000};
  for (const int64_t size : {200'000, 400'000}) {
    const auto is_exact = [&](const Params& params) {
      const Tables tables = Draw({&trace.View()}, params);
      const Table& windows = tables[kWindows];
      for (size_t row = 0; row < windows.rows(); ++row) {
        if (Ints(windows, "begin_offset_ns")[row] <= place.begin - 1000 &&
            place.end - 1000 <= Ints(windows, "end_offset_ns")[row]) {
          return true;
        }
      }
      return false;
    };
    Params params = WithSize(size);
    EXPECT_FALSE(is_exact(params)) << size;
    DrawFirst(std::span(&place, 1), params);
    EXPECT_TRUE(is_exact(params)) << size;
    const Tables tables = Draw({&trace.View()}, params);
    EXPECT_EQ(Texts(tables[kWindows], "window")[0], kFindingWindow);
    EXPECT_LE(SumOf(tables[kLevels], "bytes"), size);
    const std::vector<std::string> boxes = BoxesOf(tables[kBoxes], 1, 0);
    EXPECT_GE(boxes.size(), 6U);
  }
}

TEST(TimelineTest, TheSlowestStepIsAWindow) {
  TestTrace trace;
  int64_t begin_ns = 0;
  for (int step = 0; step < 5; ++step) {
    const int64_t length_ns = step == 0 ? 90'000'000 : step == 3 ? 60'000'000 : 50'000'000;
    trace.Annotation("ProfilerStep#" + std::to_string(10 + step), {begin_ns, length_ns});
    for (int i = 0; i < 5000; ++i) {
      trace.Kernel("k", {begin_ns + int64_t{5000} * i, 3000});
    }
    begin_ns += length_ns;
  }
  // Of a page that has not room for all.
  const std::string windows = Csv(Draw({&trace.View()}, WithSize(150'000))[kWindows],
                                  {"window", "begin_offset_ns", "end_offset_ns", "cut"});
  EXPECT_NE(windows.find("\nslowest step: 13,184000000,256000000,no\n"), std::string::npos)
      << windows;
}

TEST(TimelineTest, TablesOfOthersAreChecked) {
  TestTrace trace = Busy(0, 10);
  const Tables good = Draw({&trace.View()});
  EXPECT_TRUE(CheckTimelineTables(good, {}).ok());
  const auto spoiled = [&](Tables6 table, std::string_view column, int64_t value) {
    Tables bad = good;
    std::get<IntValues>(bad[table].Find(column)->values)[0] = value;
    return CheckTimelineTables(bad, {}).ok();
  };
  EXPECT_FALSE(spoiled(kBoxes, "track", 99));
  EXPECT_FALSE(spoiled(kBoxes, "duration_ns", -1));
  EXPECT_FALSE(spoiled(kBoxes, "rank", 5));
  EXPECT_FALSE(spoiled(kBoxes, "level", 27));
  EXPECT_FALSE(spoiled(kLevels, "bytes", INT64_MIN));
  EXPECT_FALSE(spoiled(kLevels, "begin_offset_ns", INT64_MIN));
  EXPECT_FALSE(spoiled(kLevels, "begin_offset_ns", INT64_MAX / 8));  // after its end
  EXPECT_FALSE(spoiled(kLevels, "end_offset_ns", INT64_MAX));
  EXPECT_FALSE(spoiled(kTracks, "depths", -1));
  for (const std::string_view column : {"window_begin_offset_ns", "window_end_offset_ns", "span_ns",
                                        "begin_ns", "base_ns", "shift_ns", "left_out_events"}) {
    EXPECT_FALSE(spoiled(kSummary, column, INT64_MIN)) << column;
    EXPECT_FALSE(spoiled(kSummary, column, INT64_MAX)) << column;
  }
  EXPECT_FALSE(spoiled(kSummary, "window_begin_offset_ns", INT64_MAX / 8));  // after its end
}

// As of a run with many ranks, each of which has rows, in an order of its own.
TEST(TimelineTest, RowsMayBeOfAnyRankInAnyOrder) {
  constexpr int64_t kRanks = 3000;
  TestTrace trace = Busy(0, 10);
  Tables tables = Draw({&trace.View()});
  for (const Tables6 table : {kSummary, kBoxes}) {
    tables[table] = TakeRows(tables[table], std::vector<uint32_t>(kRanks, 0));
    IntValues& ranks = std::get<IntValues>(tables[table].Find("rank")->values);
    for (int64_t row = 0; row < kRanks; ++row) {  // 7 does not divide it: every rank once
      ranks[static_cast<size_t>(row)] = table == kSummary ? kRanks - 1 - row : row * 7 % kRanks;
    }
  }
  EXPECT_TRUE(CheckTimelineTables(tables, {}).ok());
  std::get<IntValues>(tables[kBoxes].Find("rank")->values)[kRanks / 2] = kRanks;
  EXPECT_FALSE(CheckTimelineTables(tables, {}).ok());
}

}  // namespace
}  // namespace borescope::internal
