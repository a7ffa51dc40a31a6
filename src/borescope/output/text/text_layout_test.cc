#include "borescope/output/text/text_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

std::string LayOut(const Table& table, size_t width = 80) {
  return LayOutTable(table, {width, false});
}

size_t WidestLine(std::string_view text) {
  size_t widest = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, DisplayWidth(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

Table Kernels() {
  Table table{"kernels", "Device time per kernel", {}};
  table.columns.reserve(4);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& count = AddInt(table, "count", Unit::kCount, Role::kSum, "");
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& share = AddFloat(table, "share", Unit::kShare, Role::kDerived, "");
  Push(name, "void elementwise_kernel<4, Functor<float>>(int)");
  Push(count, int64_t{12345});
  Push(total, int64_t{523'456'789});
  Push(share, 0.984);
  Push(name, "gemm");
  Push(count, int64_t{1});
  Push(total, int64_t{1'000});
  PushMissing(share);
  return table;
}

// A table of a key and `columns` numbers, in `rows` rows.
Table Wide(int columns, int rows) {
  Table table{"wide", "Wide", {}};
  AddString(table, "name", Role::kKey, "");
  for (int i = 0; i < columns; ++i) {
    AddInt(table, "number_" + std::to_string(i) + "_ns", Unit::kNanoseconds, Role::kSum, "");
  }
  for (int row = 0; row < rows; ++row) {
    Push(table.columns[0], "a name of some length " + std::to_string(row));
    for (int i = 0; i < columns; ++i) {
      Push(table.columns[static_cast<size_t>(i) + 1], int64_t{123456});
    }
  }
  return table;
}

size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(TextLayout, AlignsColumnsAndPutsUnitsBelowHeadings) {
  EXPECT_EQ(LayOut(Kernels()),
            "Device time per kernel\n"
            "name                                              count    total  share\n"
            "                                                              ms      %\n"
            "───────────────────────────────────────────────────────────────────────\n"
            "void elementwise_kernel<4, Functor<float>>(int)  12,345  523.457   98.4\n"
            "gemm                                                  1    0.001      -\n");
}

TEST(TextLayout, SumsOfTimeBesideEachOtherShareAUnit) {
  Table table{"parts", "Parts", {}};
  const auto add = [&](std::string_view name, Role role, int64_t ns) {
    Push(AddInt(table, name, Unit::kNanoseconds, role, ""), ns);
  };
  Push(AddString(table, "name", Role::kKey, ""), "all");
  add("span_ns", Role::kSum, 12'000'000);
  add("host_ns", Role::kSum, 450'000);
  add("none_ns", Role::kSum, 0);
  add("tiny_ns", Role::kSum, 7'000);
  add("longest_ns", Role::kMax, 450'000);
  add("other_ns", Role::kSum, 450'000);
  EXPECT_EQ(LayOutTable(table, {80}),
            "Parts\n"
            "name    span   host  none   tiny  longest    other\n"
            "          ms     ms    ms     us       us       us\n"
            "──────────────────────────────────────────────────\n"
            "all   12.000  0.450     0  7.000  450.000  450.000\n");
}

TEST(TextLayout, LongNamesAreWrappedBesideNumbers) {
  EXPECT_EQ(LayOut(Kernels(), 64),
            "Device time per kernel\n"
            "name                                       count    total  share\n"
            "                                                       ms      %\n"
            "────────────────────────────────────────────────────────────────\n"
            "void elementwise_kernel<4,                12,345  523.457   98.4\n"
            "  Functor<float>>(int)\n"
            "gemm                                           1    0.001      -\n");
}

TEST(TextLayout, NumbersLoseTheirLastDecimalsWhereNothingElseHelps) {
  EXPECT_EQ(CountOf(LayOut(Wide(8, 4), 75), "123.456"), 32U);
  EXPECT_EQ(CountOf(LayOut(Wide(8, 4), 65), "123.5  "), 28U) << LayOut(Wide(8, 4), 65);
}

TEST(TextLayout, NamesThatWouldBecomeUnreadableGetLinesOfTheirOwn) {
  EXPECT_EQ(LayOut(Kernels(), 40),
            "Device time per kernel\n"
            "name\n"
            "   count    total  share\n"
            "               ms      %\n"
            "────────────────────────\n"
            "elementwise_kernel<4, Functor<float>>\n"
            "  12,345  523.457   98.4\n"
            "gemm\n"
            "       1    0.001      -\n");
}

// Two names that only their middle distinguishes.
TEST(TextLayout, NamesThatWouldLookAlikeAreWrapped) {
  Table table{"kernels", "Kernels", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  const std::string around(30, 'x');
  for (const char* size : {"_16x16_", "_32x32_"}) {
    Push(name, around + size + around);
    Push(total, int64_t{5});
  }
  const std::string text = LayOut(table, 70);
  EXPECT_EQ(CountOf(text, "x_16x16_"), 1U) << text;
  EXPECT_EQ(CountOf(text, "x_32x32_"), 1U) << text;
}

// Kernels of CUTLASS have such names, wider than the terminal.
TEST(TextLayout, NamesThatAreCutShowWhatTellsThemApart) {
  Table table{"kernels", "Kernels", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  const std::string around(25, 'x');
  for (const std::string& size : {std::string("_16x16_"), std::string("_32x32_"), around}) {
    Push(name, around + size + around);
    Push(total, int64_t{5});
  }
  EXPECT_EQ(LayOut(table, 40),
            "Kernels\n"
            "name                               total\n"
            "                                      ns\n"
            "────────────────────────────────────────\n"
            "xxxxxxxxxxxxxxxxxxxxxxxxx_16x16_       5\n"
            "  xxxxxxx…\n"
            "xxxxxxxxxxxxxxxxxxxxxxxxx_32x32_       5\n"
            "  xxxxxxx…\n"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx      5\n"
            "  xxxxxx…\n");
}

// Of names that no piece distinguishes; labels with numbers are the last resort.
Table NamesOfOneLetter() {
  Table table{"kernels", "Kernels", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  for (size_t i = 0; i < 400; ++i) {
    Push(name, std::string(70 + i, 'x'));
    Push(total, int64_t{5});
  }
  return table;
}

TEST(TextLayout, LabelsThatWouldLookAlikeTakeMoreLines) {
  const std::string text = LayOut(NamesOfOneLetter(), 40);
  EXPECT_EQ(CountOf(text, "#"), 0U);
  EXPECT_EQ(CountOf(text, "  total\n     ns\n───────\n"), 1U) << text.substr(0, 200);
}

// Beside them there is room for 42 cells of the names.
TEST(TextLayout, NamesGiveWayToBarsAndStayApart) {
  Table table{"kernels", "Kernels", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  for (const char digit : {'1', '2', '3', '4'}) {
    Push(name, std::string(24, 'x') + digit + std::string(35, 'x'));
    Push(total, int64_t{5});
  }
  const RowBars bars{"total", {1, 1, 1, 1}, std::vector<Tone>(4, Tone::kCompute)};
  const std::string text = LayOutTable(table, {59, false}, &bars);
  EXPECT_NE(text, LayOut(table, 59));
  EXPECT_EQ(CountOf(text, "x4x"), 1U) << text;
}

// Beside each other, the columns would have 16 cells for names of 60.
TEST(TextLayout, KeysOfBlocksAreCutToNoLessThanHalf) {
  Table table{"t", "Title", {}};
  table.columns.reserve(13);
  Column& name = AddString(table, "name", Role::kKey, "");
  for (const char digit : {'1', '2', '3', '4'}) {
    Push(name, std::string(55, 'x') + "_" + digit + std::string(3, 'y'));
  }
  for (int at = 0; at < 12; ++at) {
    Column& number = AddInt(table, "number" + std::to_string(at), Unit::kNone, Role::kSum, "");
    for (int64_t row = 0; row < 4; ++row) {
      Push(number, row + 1'000'000);
    }
  }
  const std::string text = LayOut(table, 60);
  EXPECT_GT(CountOf(text, std::string(55, 'x') + "_4yyy\n"), 0U) << text;
}

TEST(TextLayout, BoldOnlyTouchesTitleAndHeadings) {
  const std::string text = LayOutTable(Kernels(), {80, true});
  EXPECT_TRUE(text.starts_with("\x1b[1mDevice time per kernel\x1b[0m\n\x1b[1mname"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\x1b'), 6);
}

Table Verdict() {
  Table table{"verdict", "Verdict", {}};
  table.columns.reserve(3);
  Column& finding = AddString(table, "finding", Role::kKey, "");
  Column& value = AddFloat(table, "value", Unit::kShare, Role::kDerived, "");
  Column& help = AddString(table, "help", Role::kDerived, "");
  Push(finding, "idle");
  Push(value, 0.25);
  Push(help, "The device waits for the host: capture the step in a graph or fuse small kernels.");
  Push(finding, "copies");
  Push(value, 0.5);
  PushMissing(help);
  return table;
}

TEST(TextLayout, LongRemarksAreWrappedInTheirColumn) {
  EXPECT_EQ(LayOut(Verdict(), 60),
            "Verdict\n"
            "finding  value  help\n"
            "             %\n"
            "────────────────────────────────────────────────────────────\n"
            "idle      25.0  The device waits for the host: capture the\n"
            "                step in a graph or fuse small kernels.\n"
            "copies    50.0  -\n");
}

TEST(TextLayout, WithoutRoomRemarksMoveBelowTheirRow) {
  EXPECT_EQ(LayOut(Verdict(), 50),
            "Verdict\n"
            "finding  value\n"
            "             %\n"
            "──────────────\n"
            "idle      25.0\n"
            "    help: The device waits for the host: capture\n"
            "    the step in a graph or fuse small kernels.\n"
            "copies    50.0\n");
}

// As of a query: a table of `columns` texts and nothing else.
Table Texts(int columns, Role role) {
  Table table{"t", "Texts", {}};
  for (int column = 0; column < columns; ++column) {
    Column& text = AddString(table, "text_" + std::to_string(column), role, "");
    for (int row = 0; row < 4; ++row) {
      Push(text, "words before_" + std::string(20, 'x') + std::to_string(row) + "_" +
                     std::string(30, 'x'));
    }
  }
  return table;
}

TEST(TextLayout, LongTextsAloneStandBesideEachOther) {
  const std::string text = LayOut(Texts(2, Role::kDerived), 70);
  EXPECT_TRUE(
      text.starts_with("Texts\n"
                       "text 0                              text 1\n"
                       "──────────────────────────────────────────────────────────────────────\n"
                       "words                               words\n"
                       "  before_xxxxxxxxxxxxxxxxxxxx0_       before_xxxxxxxxxxxxxxxxxxxx0_\n"
                       "  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
                       "words                               words\n"))
      << text;
  EXPECT_EQ(CountOf(text, "x3_"), 2U) << text;
}

TEST(TextLayout, LongTextsAloneStandBelowTheFirstWithoutRoom) {
  const std::string text = LayOut(Texts(3, Role::kDerived), 70);
  EXPECT_TRUE(
      text.starts_with("Texts\n"
                       "text 0\n"
                       "─────────────────────────────────────────────────────────────────\n"
                       "words before_xxxxxxxxxxxxxxxxxxxx0_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
                       "    text 1: words\n"
                       "    before_xxxxxxxxxxxxxxxxxxxx0_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
                       "    text 2: words\n"
                       "    before_xxxxxxxxxxxxxxxxxxxx0_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
                       "words before_xxxxxxxxxxxxxxxxxxxx1_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"))
      << text;
}

TEST(TextLayout, LongKeysAloneShowWhatTellsThemApart) {
  const std::string text = LayOut(Texts(1, Role::kKey), 50);
  EXPECT_TRUE(
      text.starts_with("Texts\n"
                       "text 0\n"
                       "──────────────────────────────────────────────────\n"
                       "words before_…xxxx0_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
                       "words before_…xxxx1_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"))
      << text;
  EXPECT_EQ(CountOf(LayOut(Texts(2, Role::kKey), 50), "3"), 2U);
}

TEST(TextLayout, RemarksOnKeysThatLookAlikeStay) {
  Table table = Texts(1, Role::kKey);
  Column& help = AddString(table, "help", Role::kDerived, "");
  for (int row = 0; row < 4; ++row) {
    Push(help, "What can be done about this one, in so many words " + std::to_string(row));
  }
  const std::string text = LayOut(table, 50);
  EXPECT_EQ(CountOf(text, "done about"), 4U) << text;
  EXPECT_EQ(CountOf(text, "x2_x"), 1U) << text;
}

// `table` with columns that no row has a value for.
Table WithEmpty(Table table, int columns) {
  const size_t rows = table.rows();
  for (int i = 0; i < columns; ++i) {
    AddInt(table, "empty_" + std::to_string(i) + "_bytes", Unit::kBytes, Role::kSum, "");
    for (size_t row = 0; row < rows; ++row) {
      PushMissing(table.columns.back());
    }
  }
  return table;
}

TEST(TextLayout, ColumnsWithoutValuesAreOnlyNamedWhereThereIsNoRoom) {
  EXPECT_EQ(
      LayOut(WithEmpty(Kernels(), 1), 100),
      "Device time per kernel\n"
      "name                                              count    total  share  empty 0 bytes\n"
      "                                                              ms      %              B\n"
      "──────────────────────────────────────────────────────────────────────────────────────\n"
      "void elementwise_kernel<4, Functor<float>>(int)  12,345  523.457   98.4              -\n"
      "gemm                                                  1    0.001      -              -\n");
  EXPECT_EQ(LayOut(WithEmpty(Kernels(), 6)),
            LayOut(Kernels()) +
                "Without values: empty 0 bytes, empty 1 bytes, empty 2 bytes, empty 3 bytes,\n"
                "empty 4 bytes, empty 5 bytes\n");
}

TEST(TextLayout, KeysAndTablesWithoutValuesStayWhole) {
  Table table = WithEmpty(Kernels(), 6);
  table.columns.back().role = Role::kKey;
  EXPECT_TRUE(LayOut(table).ends_with(
      "Without values: empty 0 bytes, empty 1 bytes, empty 2 bytes, empty 3 bytes,\n"
      "empty 4 bytes\n"));
  table.columns.erase(table.columns.begin(), table.columns.end() - 6);
  table.columns.back().role = Role::kSum;
  EXPECT_EQ(CountOf(LayOut(table, 40), "Without values"), 0U);
}

TEST(TextLayout, FewRowsOfManyColumnsStandOnTheirSide) {
  const std::string text = LayOut(Wide(10, 1), 60);
  EXPECT_TRUE(
      text.starts_with("Wide\n"
                       "name      a name of some length 0\n"
                       "number 0  123.5 us\n"
                       "number 1  123.5 us\n"))
      << text;
  for (size_t width = 40; width < 120; ++width) {
    EXPECT_LE(WidestLine(LayOut(Wide(20, 3), width)), width);
  }
}

TEST(TextLayout, ManyColumnsAreCutIntoBlocksThatRepeatTheKeys) {
  const std::string text = LayOut(Wide(20, 4), 60);
  EXPECT_LE(WidestLine(text), 60U);
  EXPECT_EQ(CountOf(text, "123."), 4U * 20) << text;
  const size_t blocks = CountOf(text, "\n─");
  EXPECT_GE(blocks, 2U);
  EXPECT_EQ(CountOf(text, "length 3"), blocks) << text;
}

// A name that follows the numbers, as in the reports of Nsight Systems.
TEST(TextLayout, BlocksWithoutALeadingKeyHaveTheirNamesAboveTheRows) {
  Table table = Wide(12, 5);
  std::erase_if(table.columns, [](const Column& column) { return column.role == Role::kKey; });
  Column& name = AddString(table, "name", Role::kKey, "");
  for (size_t row = 0; row < 5; ++row) {
    Push(name, "kernel_" + std::to_string(row));
  }
  const std::string text = LayOut(table);
  const size_t blocks = CountOf(text, "\n─");
  EXPECT_GE(blocks, 2U) << text;
  EXPECT_EQ(CountOf(text, "kernel_3\n"), blocks) << text;
}

TEST(TextLayout, HostileNamesCannotBreakLinesOrTheTerminal) {
  Table table{"t", "a\x1b[2Jb", {}};
  Push(AddString(table, "name\n", Role::kKey, ""), "x\ny\x1b[31m\xFF");
  const std::string text = LayOut(table);
  EXPECT_EQ(text, "a\uFFFD[2Jb\nname\n─────────\nx y\uFFFD[31m\uFFFD\n");
}

TEST(TextLayout, AnEmptyTableSaysSo) {
  Table table{"t", "Nothing here", {}};
  AddInt(table, "n", Unit::kCount, Role::kSum, "");
  EXPECT_EQ(LayOut(table), "Nothing here\n(none)\n");
}

TEST(LayOutTable, LongTitlesAreWrapped) {
  Table table = Kernels();
  table.title = "Launch calls and the device work that they started, one row for each of them, all";
  const std::string text = LayOut(table);
  EXPECT_LE(WidestLine(text), 80U);
  EXPECT_TRUE(text.starts_with(
      "Launch calls and the device work that they started, one row for each of them,\nall\n"))
      << text;
}

TEST(TextLayout, ATableOnItsSideKeepsLongNamesShort) {
  Table table = Wide(12, 1);
  Column& kernel = AddString(table, "kernel", Role::kDerived, "");
  Push(kernel, "void f<" + std::string(5000, 'x') + ">(int)");
  const std::string text = LayOut(table);
  EXPECT_LE(WidestLine(text), 80U);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 30) << text;
  EXPECT_EQ(CountOf(text, "f<x"), 1U) << text;
}

}  // namespace
}  // namespace borescope::internal
