#include "borescope/output/units/timestamps.h"

#include <gtest/gtest.h>

#include <limits>

#include "borescope/output/units/units.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

// A step of rank 0, and one of rank 3, whose clock is another.
Table Steps() {
  Table table{"steps", "Steps", {}};
  table.columns.reserve(3);
  Column& rank = AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  Column& begin = AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kMin, "");
  Column& span = AddInt(table, "span_ns", Unit::kNanoseconds, Role::kSum, "");
  for (const auto& [number, at] :
       {std::pair<int64_t, int64_t>{0, 1'712'195'495'502'035'116}, {3, 99'000}}) {
    Push(rank, number);
    Push(begin, at);
    Push(span, int64_t{5});
  }
  return table;
}

constexpr RankBegin kBegins[] = {{0, 1'712'195'495'502'000'000}, {3, 100'000}};

IntValues CellsOf(const Table& table, std::string_view column) {
  return std::get<IntValues>(table.Find(column)->values);
}
IntValues Counted(const Table& table) { return CellsOf(table, "begin_offset_ns"); }
IntValues Recorded(const Table& table) { return CellsOf(table, "begin_ns"); }

TEST(SinceBeginTest, EachRankCountsFromItsOwnBegin) {
  const Table table = SinceBegin(Steps(), kBegins);
  EXPECT_EQ(Counted(table), (IntValues{35'116, -1'000}));
  EXPECT_EQ(std::get<IntValues>(table.Find("span_ns")->values), (IntValues{5, 5}));
}

TEST(SinceBeginTest, WithoutTheBeginOfARankMomentsStay) {
  EXPECT_EQ(Recorded(SinceBegin(Steps(), {kBegins, 1})), Recorded(Steps()));
  Table nameless = Steps();
  nameless.columns.erase(nameless.columns.begin());
  EXPECT_EQ(Recorded(SinceBegin(nameless, kBegins)), Recorded(Steps()));
}

// As of findings about the whole run.
TEST(SinceBeginTest, RowsWithoutAMomentNeedNoRank) {
  Table table = Steps();
  PushMissing(table.columns[0]);
  for (size_t i = 1; i < table.columns.size(); ++i) {
    PushMissing(table.columns[i]);
  }
  const Table counted = SinceBegin(table, kBegins);
  ASSERT_NE(counted.Find("begin_offset_ns"), nullptr);
  EXPECT_EQ(CellsOf(counted, "begin_offset_ns")[0], Counted(SinceBegin(Steps(), kBegins))[0]);
  EXPECT_TRUE(counted.Find("begin_offset_ns")->IsMissing(2));
}

TEST(SinceBeginTest, WhatElapsedSaysIsSaidOnce) {
  Table table = Steps();
  Column& elapsed = AddInt(table, "elapsed_ns", Unit::kNanoseconds, Role::kDerived, "");
  Push(elapsed, int64_t{35'116});
  Push(elapsed, int64_t{-1'000});
  const Table once = SinceBegin(table, kBegins);
  EXPECT_EQ(once.Find("begin_ns"), nullptr);
  EXPECT_EQ(once.Find("begin_offset_ns"), nullptr);
  EXPECT_NE(once.Find("elapsed_ns"), nullptr);
}

TEST(SinceBeginTest, ADistanceBeyondAllNumbersIsNotTaken) {
  Table table = Steps();
  std::get<IntValues>(table.columns[1].values)[1] = std::numeric_limits<int64_t>::max();
  const RankBegin begins[] = {{0, 0}, {3, -2}};
  EXPECT_EQ(Counted(SinceBegin(table, begins))[1], std::numeric_limits<int64_t>::max());
}

TEST(SinceBeginTest, ShownWithASignToTheMicrosecondOrBelow) {
  const Table table = SinceBegin(Steps(), kBegins);
  const Column& begin = *table.Find("begin_offset_ns");
  const NumberFormat format = ChooseFormat(begin, Precision::kFull);
  EXPECT_EQ(format.unit, "us");
  EXPECT_EQ(FormatCell(begin, format, 0), "+35.116");
  EXPECT_EQ(FormatCell(begin, format, 1), "-1.000");
  const RankBegin early[] = {{0, 1'712'195'493'502'000'000}, {3, 0}};
  const Table late = SinceBegin(Steps(), early);
  const Column& later = *late.Find("begin_offset_ns");
  const NumberFormat longer = ChooseFormat(later, Precision::kCompact);
  EXPECT_EQ(longer.unit, "ms");
  EXPECT_EQ(FormatCell(later, longer, 0), "+2,000.035");
}

TEST(SinceBeginTest, TextCountsAndProgramsGetTheClock) {
  Document document;
  document.tables = {Steps()};
  document.begins.assign(std::begin(kBegins), std::end(kBegins));
  StringSink text;
  ASSERT_TRUE(WriteText(document, {}, text).ok());
  EXPECT_NE(text.text().find("+35.116"), std::string::npos) << text.text();
  StringSink csv;
  ASSERT_TRUE(WriteCsv(document, {}, csv).ok());
  EXPECT_NE(csv.text().find("0,1712195495502035116,5\n"), std::string::npos) << csv.text();
}

}  // namespace
}  // namespace borescope::internal
