#include "borescope/output/text/text_bars.h"

#include <gtest/gtest.h>

#include <regex>

#include "borescope/output/text/text_layout.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kRank[] = {"rank"};
constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kParts[] = {"compute_ns", "exposed_comm_ns", "idle_ns"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr ViewSpec kBars{"kernels", ViewKind::kBars, "Kernels", kName, kTotal};
constexpr ViewSpec kStacks{"breakdown", ViewKind::kStackedBars, "Device time", kRank, kParts};
constexpr ViewSpec kLines{"queue", ViewKind::kSeries, "Queue", kName, kTotal, "ts_ns"};

// Text without escape sequences.
std::string Plain(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

size_t WidestLine(const std::string& text) {
  size_t widest = 0;
  size_t begin = 0;
  const std::string plain = Plain(text);
  while (begin < plain.size()) {
    const size_t end = std::min(plain.find('\n', begin), plain.size());
    widest = std::max(widest, DisplayWidth(plain.substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

Table Kernels(size_t name_length) {
  Table table{"kernels", "Kernels", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  for (const int64_t value : {1'000, 500, 1, 0}) {
    Push(name, std::string_view(std::string(name_length, 'k')));
    Push(total, value);
  }
  return table;
}

TEST(TextBarTest, CountsEighthsOfCells) {
  EXPECT_EQ(Plain(TextBar(1, 4, Tone::kComm)), "████");
  EXPECT_EQ(Plain(TextBar(0.5, 4, Tone::kComm)), "██");
  EXPECT_EQ(Plain(TextBar(3.0 / 32, 4, Tone::kComm)), "▍");
  EXPECT_EQ(Plain(TextBar(17.0 / 32, 4, Tone::kComm)), "██▏");
  EXPECT_EQ(Plain(TextBar(1e-9, 4, Tone::kComm)), "▏");  // above zero is seen
  EXPECT_EQ(TextBar(0, 4, Tone::kComm), "");
  EXPECT_EQ(Plain(TextBar(7, 4, Tone::kComm)), "████");
}

TEST(TextBarTest, HasTheColourOfItsTone) {
  EXPECT_EQ(TextBar(1, 1, Tone::kComm), "\x1b[38;5;214m█\x1b[0m");
}

TEST(TextStackTest, PartsMeetInsideACellInBothColours) {
  const TextPart parts[] = {{12, Tone::kCompute}, {4, Tone::kComm}};
  EXPECT_EQ(TextStack(parts, 16, 2), "\x1b[38;5;32m█\x1b[0m\x1b[38;5;32m\x1b[48;5;214m▌\x1b[0m");
}

TEST(TextStackTest, FillsTheWidthWhateverTheParts) {
  for (double first = 0; first <= 10; first += 0.37) {
    const TextPart parts[] = {{first, Tone::kCompute}, {0, Tone::kCopy}, {10 - first, Tone::kIdle}};
    EXPECT_EQ(DisplayWidth(Plain(TextStack(parts, 10, 13))), 13U);
    EXPECT_EQ(DisplayWidth(Plain(TextStack(parts, 40, 13))), 13U);
  }
}

TEST(TextStackTest, OddLengthsAreNone) {
  const TextPart parts[] = {{-3, Tone::kCompute}, {2, Tone::kIdle}};
  EXPECT_EQ(Plain(TextStack(parts, 2, 2)), "██");
  EXPECT_EQ(TextStack({}, 1, 2), "  ");
}

TEST(RowBarsTest, StandBehindTheRowsInTheWidthThatIsLeft) {
  const Table table = Kernels(8);
  const RowBars bars = MakeRowBars(table, kBars);
  const std::string text = LayOutTable(table, {80, true}, &bars);
  EXPECT_NE(Plain(text).find("kkkkkkkk  1.000  ████████████████████████████████████████\n"),
            std::string::npos)
      << Plain(text);
  EXPECT_NE(Plain(text).find("name      total  total\n"), std::string::npos);
  EXPECT_NE(Plain(text).find("kkkkkkkk  0.500  ████████████████████\n"), std::string::npos);
  EXPECT_NE(Plain(text).find("kkkkkkkk  0.000\n"), std::string::npos);
}

TEST(RowBarsTest, NeverExceedTheWidth) {
  for (size_t length = 1; length < 140; length += 3) {
    for (size_t width = 40; width < 130; width += 7) {
      const Table table = Kernels(length);
      const RowBars bars = MakeRowBars(table, kBars);
      EXPECT_LE(WidestLine(LayOutTable(table, {width, true}, &bars)), width) << length;
    }
  }
}

TEST(RowBarsTest, WithoutValuesThereAreNone) {
  Table table = Kernels(4);
  std::get<IntValues>(table.columns[1].values) = {0, 0, -5, 0};
  EXPECT_TRUE(MakeRowBars(table, kBars).shares.empty());
}

Table Breakdown(int64_t comm) {
  Table table{"breakdown", "Where time goes", {}};
  table.columns.reserve(4);
  Push(AddInt(table, "rank", Unit::kNone, Role::kKey, ""), static_cast<int64_t>(3));
  const auto add = [&](std::string_view name, int64_t value) {
    Push(AddInt(table, name, Unit::kNanoseconds, Role::kSum, ""), value);
  };
  add("compute_ns", 600);
  add("exposed_comm_ns", comm);
  add("idle_ns", 400 - comm);
  return table;
}

TEST(ChartBelowTest, AStackHasALegendWithShares) {
  const std::string text = ChartBelow(Breakdown(100), kStacks, 40);
  EXPECT_EQ(Plain(text),
            "\nDevice time\n"
            "█ compute 60.0 %   █ exposed comm 10.0 %\n"
            "█ idle 30.0 %\n"
            // 22 cells are 176 eighths: 106, 17 and 53 of them.
            "rank 3  █████████████▎█▍██████  1.000 us\n")
      << text;
  EXPECT_LE(WidestLine(text), 40U);
}

TEST(ChartBelowTest, OfNothingIsNothing) {
  Table table = Breakdown(0);
  for (size_t i = 1; i < table.columns.size(); ++i) {
    std::get<IntValues>(table.columns[i].values) = {0};
  }
  EXPECT_EQ(ChartBelow(table, kStacks, 80), "");
}

TEST(ChartBelowTest, ASparklineHoldsValuesUntilTheNext) {
  Table table{"queue", "", {}};
  table.columns.reserve(3);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& ts = AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey, "");
  Column& total = AddInt(table, "total_ns", Unit::kCount, Role::kSum, "");
  for (const auto& [at, value] : {std::pair{0, 8}, {500, 0}, {1'000, 4}}) {
    Push(name, "s");
    Push(ts, static_cast<int64_t>(at));
    Push(total, static_cast<int64_t>(value));
  }
  const std::string text = Plain(ChartBelow(table, kLines, 40));
  EXPECT_NE(text.find("s  ██████████████"), std::string::npos) << text;
  EXPECT_NE(text.find("▄  up to 8\n"), std::string::npos) << text;
  EXPECT_LE(WidestLine(text), 40U);
}

TEST(WriteTextTest, WithoutColourViewsChangeNothing) {
  Document plain;
  plain.tables = {Kernels(10), Breakdown(50)};
  Document with_views = plain;
  with_views.views = {kBars, kStacks};
  StringSink a;
  StringSink b;
  StringSink c;
  EXPECT_TRUE(WriteText(plain, {}, a).ok());
  EXPECT_TRUE(WriteText(with_views, {}, b).ok());
  EXPECT_TRUE(WriteText(with_views, {80, true}, c).ok());
  EXPECT_EQ(a.text(), b.text());
  EXPECT_NE(c.text().find("\x1b[38;5;"), std::string::npos);
}

// Programs and pages have them.
TEST(TextBars, ColumnsOfAViewAsideAreLeftOut) {
  constexpr std::string_view kAsideColumns[] = {"rank"};
  Table table{"verdict", "Verdict", {}};
  table.columns.reserve(2);
  Push(AddString(table, "where", Role::kKey, ""), "rank 7");
  Push(AddInt(table, "rank", Unit::kNone, Role::kDerived, ""), int64_t{1234567});
  Document document;
  document.tables = {table};
  document.views = {{"verdict", ViewKind::kAside, "More", kAsideColumns, {}}};
  StringSink sink;
  ASSERT_TRUE(WriteText(document, {}, sink).ok());
  EXPECT_NE(sink.text().find("rank 7"), std::string::npos) << sink.text();
  EXPECT_EQ(sink.text().find("1234567"), std::string::npos) << sink.text();
}

TEST(TextBars, ColumnsOfAViewAsideWithoutAValueAreLeftOut) {
  constexpr std::string_view kUsuallyZero[] = {"aligned_ns"};
  Table table{"ops", "Operators", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& aligned = AddInt(table, "aligned_ns", Unit::kNanoseconds, Role::kSum, "");
  Push(name, "aten::mm");
  Push(aligned, int64_t{0});
  Push(name, "aten::add");
  PushMissing(aligned);
  Document document;
  document.tables = {table};
  document.views = {{"ops", ViewKind::kAside, "More", {}, kUsuallyZero}};
  StringSink zero;
  ASSERT_TRUE(WriteText(document, {}, zero).ok());
  EXPECT_EQ(zero.text().find("aligned"), std::string::npos) << zero.text();
  Push(document.tables[0].columns[0], "aten::mul");
  Push(document.tables[0].columns[1], int64_t{7});
  StringSink some;
  ASSERT_TRUE(WriteText(document, {}, some).ok());
  EXPECT_NE(some.text().find("aligned"), std::string::npos) << some.text();
}

}  // namespace
}  // namespace borescope::internal
