#include "borescope/output/charts/charts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "borescope/output/charts/roofline.h"
#include "borescope/table/display/column_hints.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kOp[] = {"op"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr std::string_view kDepths[] = {"total_device_ns", "total_host_ns"};
constexpr std::string_view kRates[] = {"intensity", "tflops"};
constexpr ViewSpec kBars{"kernels", ViewKind::kBars, "Kernels", kName, kTotal};
constexpr ViewSpec kLines{"kernels", ViewKind::kSeries, "Lines", kName, kTotal, "ts_ns"};
constexpr ViewSpec kFlame{"stacks", ViewKind::kFlame, "Frames", kName, kDepths};
constexpr ViewSpec kRoofline{"roofline", ViewKind::kRoofline, "Roofs", kOp, kRates};
constexpr std::string_view kRanks[] = {"ranks"};
constexpr std::string_view kRelative[] = {"relative"};
constexpr ViewSpec kHeat{"heat", ViewKind::kHeat, "Heat", kRanks, kRelative, "step"};
constexpr std::string_view kHostile =
    "</text></svg><script>alert(1)</script>&\"'\x1b]0;x\x07\u202E<![CDATA[ -->";

Table Kernels(std::string_view name, int64_t total) {
  Table table{"kernels", "", {}};
  table.columns.reserve(3);
  Push(AddString(table, "name", Role::kKey, ""), name);
  Push(AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey, ""), static_cast<int64_t>(5));
  Push(AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, ""), total);
  return table;
}

struct StackRow {
  int64_t depth;
  std::string_view name;
  int64_t device_ns;
};
Table Stacks(std::initializer_list<StackRow> rows) {
  Table table{"stacks", "", {}};
  table.columns.reserve(4);
  Column& depth = AddInt(table, "depth", Unit::kNone, Role::kKey, "");
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& kind = AddString(table, "kind", Role::kKey, "");
  Column& device = AddInt(table, "total_device_ns", Unit::kNanoseconds, Role::kSum, "");
  for (const StackRow& row : rows) {
    Push(depth, row.depth);
    Push(name, row.name);
    Push(kind, "op");
    Push(device, row.device_ns);
  }
  return table;
}

Table Operators(std::string_view name, double intensity, double tflops) {
  Table table{"roofline", "", {}};
  table.columns.reserve(4);
  Push(AddString(table, "op", Role::kKey, ""), name);
  Push(AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, ""), static_cast<int64_t>(7));
  Push(AddFloat(table, "intensity", Unit::kNone, Role::kDerived, ""), intensity);
  Push(AddFloat(table, "tflops", Unit::kNone, Role::kDerived, ""), tflops);
  return table;
}

struct HeatRow {
  std::string_view ranks;
  std::optional<int64_t> step;
  double relative;
};
Table Heat(std::initializer_list<HeatRow> rows) {
  Table table{"heat", "", {}};
  table.columns.reserve(4);
  Column& ranks = AddString(table, "ranks", Role::kDerived, "");
  Column& step = AddInt(table, "step", Unit::kNone, Role::kKey, "");
  Column& relative = AddFloat(table, "relative", Unit::kNone, Role::kDerived, "");
  Column& level = AddString(table, "level", Role::kDerived, "");
  level.hints.palette = Palette::kLevel;
  for (const HeatRow& row : rows) {
    Push(ranks, row.ranks);
    PushOptional(step, row.step);
    Push(relative, row.relative);
    Push(level, LevelOf(row.relative));
  }
  return table;
}

std::string Svg(const Document& document) {
  const Result<Picture> picture = DrawPicture(document);
  EXPECT_TRUE(picture.ok()) << picture.error().Sentence();
  return picture.ok() ? picture->svg : "";
}

Document With(std::vector<Table> tables, std::vector<ViewSpec> views) {
  Document document;
  document.tables = std::move(tables);
  document.views = std::move(views);
  return document;
}

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(PictureTest, NothingToDrawNamesTheTables) {
  const Result<Picture> picture = DrawPicture(With({Kernels("a", 1)}, {kFlame}));
  ASSERT_FALSE(picture.ok());
  EXPECT_EQ(picture.error().code, ErrorCode::kMissingData);
  EXPECT_NE(picture.error().Sentence().find("its tables: kernels"), std::string::npos);
  EXPECT_FALSE(DrawPicture({}).ok());
}

TEST(PictureTest, AViewAsideIsNoChart) {
  constexpr std::string_view kAsideColumns[] = {"name"};
  const ViewSpec aside{"kernels", ViewKind::kAside, "More", kAsideColumns, {}};
  EXPECT_FALSE(DrawPicture(With({Kernels("a", 1)}, {aside})).ok());
}

TEST(PictureTest, EmptyDataSaySo) {
  EXPECT_NE(Svg(With({Kernels("a", 0)}, {kBars})).find("Nothing to draw"), std::string::npos);
  EXPECT_NE(Svg(With({Stacks({})}, {kFlame})).find("Nothing to draw"), std::string::npos);
  EXPECT_NE(Svg(With({Operators("a", 0, 0)}, {kRoofline})).find("Nothing to draw"),
            std::string::npos);
}

TEST(PictureTest, ViewsStandBelowEachOther) {
  const Document one = With({Kernels("a", 1)}, {kBars});
  const Document two = With({Kernels("a", 1)}, {kBars, kBars});
  EXPECT_EQ(Count(Svg(two), ">Kernels</text>"), 2U);
  EXPECT_GT(DrawPicture(two)->size.height, DrawPicture(one)->size.height);
  EXPECT_EQ(DrawPicture(two)->size.width, DrawPicture(one)->size.width);
}

TEST(PictureTest, HostileNamesAreText) {
  Document document =
      With({Kernels(kHostile, 3), Stacks({{0, kHostile, 3}}), Operators(kHostile, 2, 2)},
           {kBars, kLines, kFlame, kRoofline});
  document.source = kHostile;
  const std::string svg = Svg(document);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<![CDATA"), std::string::npos);
  EXPECT_EQ(svg.find('\x1b'), std::string::npos);
  EXPECT_EQ(svg.find("\u202E"), std::string::npos);
  EXPECT_EQ(Count(svg, "</svg>"), 1U);
  EXPECT_EQ(svg.find("href"), std::string::npos);
}

TEST(PictureTest, TheSameDocumentGivesTheSameBytes) {
  const Document document = With({Kernels("a", 3), Operators("b", 2, 2)}, {kBars, kRoofline});
  EXPECT_EQ(Svg(document), Svg(document));
}

TEST(FlameTest, ChildrenLieSideBySideFromTheStartOfTheirParent) {
  const std::string svg =
      Svg(With({Stacks({{0, "a", 75}, {1, "b", 25}, {1, "c", 50}, {0, "d", 25}})}, {kFlame}));
  // 912 pixels for 100 ns, from x = 24; each frame leaves a pixel to the next one.
  EXPECT_NE(svg.find(R"(<rect x="24" y="98" width="683" height="19")"), std::string::npos) << svg;
  EXPECT_NE(svg.find(R"(<rect x="252" y="118" width="455" height="19")"), std::string::npos);
  EXPECT_NE(svg.find(R"(<rect x="708" y="98" width="227" height="19")"), std::string::npos);
}

TEST(FlameTest, FramesTooNarrowToBeSeenAreLeftOut) {
  const std::string svg = Svg(With({Stacks({{0, "wide", 1'000'000}, {1, "thin", 1}})}, {kFlame}));
  EXPECT_EQ(svg.find("thin"), std::string::npos);
}

TEST(FlameTest, DepthsThatLeaveOutALevelAreTheNextOne) {
  EXPECT_NE(Svg(With({Stacks({{5, "a", 10}, {90, "b", 5}, {-3, "c", 5}})}, {kFlame})).find(">b<"),
            std::string::npos);
}

TEST(RooflineTest, PeaksOfOneRateAreOneRoof) {
  Table roofs{"roofs", "", {}};
  roofs.columns.reserve(5);
  Push(AddString(roofs, "device", Role::kKey, ""), "GPU <1>");
  Push(AddFloat(roofs, "memory_gbps", Unit::kGigabytesPerSecond, Role::kDerived, ""), 2'000.0);
  Push(AddFloat(roofs, "fp16_tflops", Unit::kNone, Role::kDerived, ""), 100.0);
  Push(AddFloat(roofs, "bf16_tflops", Unit::kNone, Role::kDerived, ""), 100.0);
  Push(AddFloat(roofs, "fp32_tflops", Unit::kNone, Role::kDerived, ""), 10.0);
  const std::vector<Table> tables = {Operators("a", 10, 5), roofs};
  const Roofline roofline = MakeRoofline(tables[0], kRoofline, tables);
  ASSERT_EQ(roofline.roofs.size(), 2U);
  EXPECT_EQ(roofline.roofs[0].name, "fp16, bf16");
  EXPECT_EQ(roofline.memory_gbps, 2'000);
  const std::string svg = Svg(With(tables, {kRoofline}));
  EXPECT_NE(svg.find("GPU &lt;1&gt;: memory 2,000\u00A0GB/s; fp16, bf16 100.0 TFLOP/s"),
            std::string::npos);
}

TEST(RooflineTest, NumbersBeyondAnyDeviceAreLeftOut) {
  for (const double odd : {1e308, 1e-308, -1.0}) {
    EXPECT_EQ(Count(Svg(With({Operators("a", 10, odd)}, {kRoofline})), "<circle"), 0U);
    EXPECT_EQ(Count(Svg(With({Operators("a", odd, 10)}, {kRoofline})), "<circle"), 0U);
  }
  const std::string svg = Svg(With({Operators("a", 1, 1e-9)}, {kRoofline}));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(Count(svg, "<circle"), 1U);
}

TEST(RooflineTest, WithoutPeaksThePointsAreDrawn) {
  const std::string svg = Svg(With({Operators("a", 10, 5)}, {kRoofline}));
  EXPECT_EQ(Count(svg, "<circle"), 1U);
  EXPECT_NE(svg.find("The peaks of the device are not known."), std::string::npos);
}

// How many rectangles there are of a tone, and how far down the page.
std::pair<size_t, std::set<std::string>> TopsOf(const std::string& svg, std::string_view tone) {
  const std::string of_tone = "class=\"f-" + std::string(tone) + "\"";
  std::set<std::string> tops;
  size_t count = 0;
  for (size_t at = svg.find("<rect "); at != std::string::npos; at = svg.find("<rect ", at + 1)) {
    const std::string element = svg.substr(at, svg.find('>', at) - at);
    if (element.find(of_tone) == std::string::npos) continue;
    const size_t y = element.find(" y=\"") + 4;
    tops.insert(element.substr(y, element.find('"', y) - y));
    ++count;
  }
  return {count, tops};
}

TEST(ChartsTest, HeatMapsHaveALineForEachLabelInAnyOrderOfRows) {
  const Table in_order = Heat({{"0", 1, 1.0}, {"0", 2, 1.0}, {"1", 1, 1.0}, {"1", 2, 2.0}});
  const Table sorted = Heat({{"1", 2, 2.0}, {"0", 1, 1.0}, {"1", 1, 1.0}, {"0", 2, 1.0}});
  for (const Table& table : {in_order, sorted}) {
    const std::string svg = Svg(With({table}, {kHeat}));
    const auto [same, lines] = TopsOf(svg, "same");
    EXPECT_EQ(same, 4U) << svg;  // and its sign in the legend
    EXPECT_EQ(lines.size(), 3U);
    EXPECT_EQ(TopsOf(svg, "more-3").first, 2U);
    EXPECT_NE(svg.find("much longer: 1 cell."), std::string::npos);
  }
  const std::string odd =
      Svg(With({Heat({{kHostile, std::nullopt, 1.0}, {"1", 2, NAN}})}, {kHeat}));
  EXPECT_EQ(odd.find("<script"), std::string::npos);
}

constexpr std::string_view kNewTime[] = {"new_ns", "low_ns", "high_ns"};
constexpr ViewSpec kIntervals{"ranking", ViewKind::kIntervals, "Steps", kName, kNewTime, "step_ns"};

Table Ranking(std::string_view name, double new_ns, double low_ns, double high_ns, double step_ns) {
  Table table{"ranking", "", {}};
  table.columns.reserve(5);
  Push(AddString(table, "name", Role::kKey, ""), name);
  Push(AddFloat(table, "new_ns", Unit::kNanoseconds, Role::kDerived, ""), new_ns);
  Push(AddFloat(table, "low_ns", Unit::kNanoseconds, Role::kDerived, ""), low_ns);
  Push(AddFloat(table, "high_ns", Unit::kNanoseconds, Role::kDerived, ""), high_ns);
  Push(AddFloat(table, "step_ns", Unit::kNanoseconds, Role::kDerived, ""), step_ns);
  return table;
}

TEST(IntervalsTest, TheBarEndsAtTheValueAndTheLineSpansTheInterval) {
  const std::string svg = Svg(With({Ranking("gemm", 50, 40, 60, 100)}, {kIntervals}));
  EXPECT_NE(svg.find(">50.0 (40.0 to 60.0\u00A0ns)<"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">step<"), std::string::npos);
  // A legend, and a mark of 2 pixels in its colour.
  EXPECT_EQ(Count(svg, "stroke-width=\"2\""), 1U);
}

TEST(IntervalsTest, WhatIsBelowZeroGoesToTheLeft) {
  const std::string svg = Svg(With({Ranking("a", -50, -60, -40, 50)}, {kIntervals}));
  EXPECT_NE(svg.find(">-50.00"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("width=\"-"), std::string::npos);
}

TEST(IntervalsTest, HostileNumbersAndNamesDoNoHarm) {
  for (const double odd : {0.0, 1e308, -1e308, 1e-308}) {
    const std::string svg =
        Svg(With({Ranking(kHostile, odd, -odd, odd * 2, -odd * 3)}, {kIntervals}));
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_EQ(svg.find("<script"), std::string::npos);
  }
}

}  // namespace
}  // namespace borescope::internal
