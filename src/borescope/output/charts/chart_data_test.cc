#include "borescope/output/charts/chart_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kRank[] = {"rank", "step"};
constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kParts[] = {"compute_ns", "exposed_comm_ns", "idle_ns"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr ViewSpec kStacks{"breakdown", ViewKind::kStackedBars, "Time", kRank, kParts};
constexpr ViewSpec kBars{"kernels", ViewKind::kBars, "Kernels", kName, kTotal};
constexpr ViewSpec kLines{"queue", ViewKind::kSeries, "Queue", kName, kTotal, "ts_ns"};

Table Breakdown(size_t ranks) {
  Table table{"breakdown", "", {}};
  table.columns.reserve(4);
  Column& rank = AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  Column& compute = AddInt(table, "compute_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& comm = AddInt(table, "exposed_comm_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& idle = AddInt(table, "idle_ns", Unit::kNanoseconds, Role::kSum, "");
  idle.hints.tone = Tone::kIdle;
  for (size_t i = 0; i < ranks; ++i) {
    Push(rank, static_cast<int64_t>(i));
    Push(compute, static_cast<int64_t>(10 + i));
    Push(comm, static_cast<int64_t>(0));
    Push(idle, static_cast<int64_t>(5));
  }
  return table;
}

Table Kernels(size_t rows) {
  Table table{"kernels", "", {}};
  table.columns.reserve(3);
  Column& name = AddString(table, "name", Role::kKey, "");
  name.hints.names = true;
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  Column& share = AddFloat(table, "share", Unit::kShare, Role::kDerived, "");
  for (size_t i = 0; i < rows; ++i) {
    Push(name, "k" + std::to_string(i));
    Push(total, static_cast<int64_t>(i));
    Push(share, 0.5);
  }
  return table;
}

TEST(FindTableTest, NeedsTheColumnsOfTheView) {
  const std::vector<Table> tables = {Kernels(2), Breakdown(1)};
  EXPECT_EQ(FindTable(tables, kStacks), &tables[1]);
  EXPECT_EQ(FindTable(tables, kBars), &tables[0]);
  EXPECT_EQ(FindTable(tables, kLines), nullptr);
  Table other = Breakdown(1);
  other.name = "kernels";  // a table of that name, with other columns
  EXPECT_EQ(FindTable({&other, 1}, kBars), nullptr);
}

TEST(BarChartTest, PartsThatAreAlwaysZeroAreLeftOut) {
  const BarChart chart = MakeBarChart(Breakdown(2), kStacks);
  ASSERT_EQ(chart.parts.size(), 2U);
  EXPECT_EQ(chart.parts[0].label, "compute");
  EXPECT_EQ(chart.parts[0].total, 10 + 11);
  EXPECT_EQ(chart.parts[1].tone, Tone::kIdle);
  ASSERT_EQ(chart.bars.size(), 2U);
  EXPECT_EQ(chart.bars[1].label, "rank 1");
  EXPECT_EQ(chart.bars[1].whole, 16);
  EXPECT_EQ(chart.longest, 16);
}

TEST(BarChartTest, OfManyRanksTheFirstAreDrawnInTheirOrder) {
  const BarChart chart = MakeBarChart(Breakdown(100), kStacks);
  EXPECT_EQ(chart.bars.front().label, "rank 0");
  EXPECT_EQ(chart.bars.size() + chart.more, 100U);
  EXPECT_EQ(chart.parts[1].total, 500);  // of all rows
}

TEST(BarChartTest, OfManyRowsTheLongestAreDrawn) {
  const BarChart chart = MakeBarChart(Kernels(50), kBars);
  ASSERT_EQ(chart.bars.size(), 12U);
  EXPECT_EQ(chart.bars.front().label, "k49");
  EXPECT_EQ(chart.more, 49U - 12U);  // without k0, which is zero
  EXPECT_EQ(chart.bars.front().share, 0.5);
}

// Rows of one rank, named and caused.
Table PathOfOneRank() {
  Table table{"kernels", "", {}};
  table.columns.reserve(4);
  Column& rank = AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  Column& name = AddString(table, "name", Role::kKey, "");
  name.hints.names = true;
  Column& cause = AddString(table, "bound_by", Role::kKey, "");
  cause.hints.palette = Palette::kCause;
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  for (const auto& [value, by] : {std::pair<int64_t, const char*>{3, "cpu"}, {7, "gpu_compute"}}) {
    Push(rank, static_cast<int64_t>(4));
    Push(name, "k" + std::to_string(value));
    Push(cause, by);
    Push(total, value);
  }
  return table;
}

TEST(BarChartTest, WhatAllRowsShareIsNotInTheirLabels) {
  constexpr std::string_view kBoth[] = {"rank", "bound_by"};
  const ViewSpec causes{"kernels", ViewKind::kBars, "", kBoth, kTotal};
  const BarChart chart = MakeBarChart(PathOfOneRank(), causes);
  ASSERT_EQ(chart.bars.size(), 2U);
  EXPECT_EQ(chart.bars[0].label, "cpu");  // causes stay in their order
  EXPECT_EQ(chart.bars[0].tone, Tone::kHost);
  EXPECT_EQ(chart.bars[1].tone, Tone::kCompute);
  const BarChart one = MakeBarChart(Head(PathOfOneRank(), 1), causes);
  EXPECT_EQ(one.bars[0].label, "rank 4 \xC2\xB7 cpu");  // alone it keeps its whole name
}

TEST(BarChartTest, BarsHaveTheToneOfTheirCellBeforeThatOfTheirValue) {
  Table table = Kernels(3);
  table.columns[0].values = StringValues();
  for (const char* name : {"zero", "nccl:all_reduce", "aten::mm"}) Push(table.columns[0], name);
  const auto tones = [&] {
    const BarChart chart = MakeBarChart(table, kBars);
    return std::vector<std::optional<Tone>>{chart.bars[1].tone, chart.bars[0].tone};
  };
  using Tones = std::vector<std::optional<Tone>>;
  EXPECT_EQ(tones(), (Tones{Tone::kCompute, Tone::kCompute}));  // names alone say nothing
  table.columns[1].hints.tone = Tone::kIdle;
  EXPECT_EQ(tones(), (Tones{Tone::kIdle, Tone::kIdle}));
  table.columns[0].hints.palette = Palette::kWork;
  EXPECT_EQ(tones(), (Tones{Tone::kComm, Tone::kIdle}));
}

TEST(BarChartTest, NamesStandInTheOrderOfTheirBars) {
  constexpr std::string_view kBoth[] = {"rank", "name"};
  const BarChart chart =
      MakeBarChart(PathOfOneRank(), {"kernels", ViewKind::kBars, "", kBoth, kTotal});
  ASSERT_EQ(chart.bars.size(), 2U);
  EXPECT_EQ(chart.bars[0].label, "k7");
  EXPECT_EQ(chart.bars[1].label, "k3");
}

TEST(BarChartTest, OddNumbersAreNoLengths) {
  Table table{"kernels", "", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& total = AddFloat(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity(), -3.0, 0.0}) {
    Push(name, "x");
    Push(total, value);
  }
  Push(name, "missing");
  PushMissing(total);
  EXPECT_TRUE(MakeBarChart(table, kBars).bars.empty());
}

TEST(BarChartTest, LabelsArePrintable) {
  Table table = Kernels(2);
  std::get<StringValues>(table.columns[0].values) = StringValues();
  Push(table.columns[0], "a\x1b[31m");
  Push(table.columns[0], "b\nc");
  const BarChart chart = MakeBarChart(table, kBars);
  ASSERT_EQ(chart.bars.size(), 1U);
  EXPECT_EQ(chart.bars[0].label, "b c");
}

TEST(LineChartTest, RowsBecomeLinesByLabelInTheOrderOfTime) {
  Table table{"queue", "", {}};
  table.columns.reserve(3);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& ts = AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey, "");
  Column& total = AddInt(table, "total_ns", Unit::kCount, Role::kSum, "");
  for (const int64_t at : {30, 10, 20}) {
    for (const char* stream : {"b", "a", "zero"}) {
      Push(name, stream);
      Push(ts, at);
      Push(total, static_cast<int64_t>(stream == std::string_view("zero") ? 0 : at));
    }
  }
  const LineChart chart = MakeLineChart(table, kLines);
  ASSERT_EQ(chart.lines.size(), 2U);  // that of zeros is none
  EXPECT_EQ(chart.lines[0].label, "b");
  EXPECT_NE(chart.lines[0].tone, chart.lines[1].tone);
  ASSERT_EQ(chart.lines[0].points.size(), 3U);
  EXPECT_EQ(chart.lines[0].points[0].first, 10);
  EXPECT_EQ(chart.begin, 10);
  EXPECT_EQ(chart.end, 30);
  EXPECT_EQ(chart.largest, 30);
}

TEST(PartLabelTest, WithoutUnit) {
  EXPECT_EQ(PartLabel("total_host_ns"), "total host");
  EXPECT_EQ(PartLabel("reserved_bytes"), "reserved");
}

TEST(MakeBarChartTest, ARowThatNothingNamesHasADash) {
  Table table = Breakdown(2);
  table.columns.front().missing = {0, 1};
  EXPECT_EQ(MakeBarChart(table, kStacks).bars[1].label, "\u2013");
}

constexpr std::string_view kChange[] = {"change", "low", "high"};
constexpr std::string_view kLimitValue[] = {"value"};
constexpr ViewSpec kChanges{"gate", ViewKind::kIntervals, "Changes", kName, kChange, "detectable"};
constexpr ViewSpec kLimits{"checks", ViewKind::kIntervals, "Limits", kName, kLimitValue, "limit"};

struct GateCells {
  std::string_view name;
  std::optional<double> change, low, high, detectable;
};

Table Gate(std::initializer_list<GateCells> rows) {
  Table table{"gate", "", {}};
  table.columns.reserve(5);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& change = AddFloat(table, "change", Unit::kShare, Role::kDerived, "");
  Column& low = AddFloat(table, "low", Unit::kShare, Role::kDerived, "");
  Column& high = AddFloat(table, "high", Unit::kShare, Role::kDerived, "");
  Column& detectable = AddFloat(table, "detectable", Unit::kShare, Role::kDerived, "");
  for (const GateCells& row : rows) {
    Push(name, row.name);
    PushOptional(change, row.change);
    PushOptional(low, row.low);
    PushOptional(high, row.high);
    PushOptional(detectable, row.detectable);
  }
  return table;
}

TEST(MakeIntervalChartTest, HoldsWhatIsKnownOnBothSidesOfZero) {
  const Table table = Gate(
      {{"step", 0.05, 0.02, 0.07, 0.1}, {"gemm", -0.2, -0.3, {}, {}}, {"new", {}, {}, {}, {}}});
  const IntervalChart chart = MakeIntervalChart(table, kChanges);
  ASSERT_EQ(chart.rows.size(), 2U);
  EXPECT_EQ(chart.rows[0].label, "step");
  EXPECT_EQ(chart.rows[0].range, std::pair(0.02, 0.07));
  EXPECT_EQ(chart.rows[0].mark, 0.1);
  EXPECT_EQ(chart.rows[1].range, std::nullopt);
  EXPECT_EQ(chart.rows[1].mark, std::nullopt);
  EXPECT_EQ(chart.low, -0.2);
  EXPECT_EQ(chart.high, 0.1);
  EXPECT_EQ(chart.unit, Unit::kShare);
  EXPECT_EQ(chart.mark, "detectable");
}

// Values of many units are comparable as parts of their limits.
TEST(MakeIntervalChartTest, UnitsOfRowsBecomePartsOfTheMark) {
  Table table{"checks", "", {}};
  table.columns.reserve(3);
  Column& name = AddString(table, "name", Role::kKey, "");
  Column& value = AddFloat(table, "value", Unit::kOfRow, Role::kDerived, "");
  Column& limit = AddFloat(table, "limit", Unit::kOfRow, Role::kDerived, "");
  for (const auto& [text, of_row, most] :
       {std::tuple("time", 3e9, std::optional(2e9)), std::tuple("count", 6.0, std::optional(12.0)),
        std::tuple("none", 6.0, std::optional(0.0)),
        std::tuple("compared", 6.0, std::optional<double>())}) {
    Push(name, std::string_view(text));
    Push(value, of_row);
    PushOptional(limit, most);
  }
  const IntervalChart chart = MakeIntervalChart(table, kLimits);
  ASSERT_EQ(chart.rows.size(), 2U);
  EXPECT_EQ(chart.rows[0].value, 1.5);
  EXPECT_EQ(chart.rows[1].value, 0.5);
  EXPECT_EQ(chart.rows[1].mark, 1);
  EXPECT_EQ(chart.unit, Unit::kShare);
}

TEST(MakeIntervalChartTest, LongTablesLoseTheirEnd) {
  Table table = Gate({});
  for (int i = 0; i < 30; ++i) {
    Push(table.columns[0], "k" + std::to_string(i));
    Push(table.columns[1], i == 0 ? 0.1 : 0.2);
    for (size_t column = 2; column < 5; ++column) {
      PushMissing(table.columns[column]);
    }
  }
  const IntervalChart chart = MakeIntervalChart(table, kChanges);
  EXPECT_EQ(chart.rows.size(), 24U);
  EXPECT_EQ(chart.rows.front().label, "k0");
  EXPECT_EQ(chart.more, 6U);
}

}  // namespace
}  // namespace borescope::internal
