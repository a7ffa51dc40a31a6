#include "borescope/output/units/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {

namespace {

using Cells = std::vector<std::string>;
using Limits = std::numeric_limits<int64_t>;

Column Ints(Unit unit, IntValues values, std::string name = "x") {
  return {std::move(name), unit, Role::kSum, "", std::move(values), {}};
}

Column Floats(Unit unit, FloatValues values) {
  return {"x", unit, Role::kDerived, "", std::move(values), {}};
}

Cells Format(const Column& column, Precision precision = Precision::kFull) {
  const NumberFormat format = ChooseFormat(column, precision);
  Cells cells{std::string(format.unit)};
  for (size_t row = 0; row < column.size(); ++row) {
    cells.push_back(FormatCell(column, format, row));
  }
  return cells;
}

TEST(Units, TimeHasOneUnitPerColumnChosenByItsLargestValue) {
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {0, 999})), (Cells{"ns", "0", "999"}));
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {1, 1000})), (Cells{"us", "0.001", "1.000"}));
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {1'234'567, 499})), (Cells{"ms", "1.235", "<0.001"}));
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {7'654'321'000'000})), (Cells{"s", "7,654.321"}));
  EXPECT_EQ(Format(Floats(Unit::kNanoseconds, {12.5})), (Cells{"ns", "12.500"}));
  EXPECT_EQ(Format(Floats(Unit::kNanoseconds, {12500.0})), (Cells{"us", "12.500"}));
}

// A minimum and a maximum in whole nanoseconds have the format of their mean, which is a fraction.
TEST(Units, IntegersInTheFormatOfFractionsStayWhatTheyAre) {
  const NumberFormat mean = ChooseFormat(Floats(Unit::kNanoseconds, {904.095}), Precision::kFull);
  const Column extremes = Ints(Unit::kNanoseconds, {1, 13'801, -5});
  EXPECT_EQ(FormatCell(extremes, mean, 0), "1");
  EXPECT_EQ(FormatCell(extremes, mean, 1), "13,801");
  EXPECT_EQ(FormatCell(extremes, mean, 2), "-5");
}

TEST(Units, HugeNumbersHaveAnExponent) {
  EXPECT_EQ(Format(Floats(Unit::kCount, {1.7e308, -2.5e18, 1e18})),
            (Cells{"", "1.700e+308", "-2.500e+18", "1,000,000,000,000,000,000"}));
}

TEST(Units, CompactNumbersKeepAboutFourDigits) {
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {523'456'789, 1'000}), Precision::kCompact),
            (Cells{"ms", "523.5", "<0.1"}));
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {23'456'789}), Precision::kCompact),
            (Cells{"ms", "23.46"}));
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {3'456'789}), Precision::kCompact),
            (Cells{"ms", "3.457"}));
}

TEST(Units, LargeIntegersStayExact) {
  // A double holds neither of these two.
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {Limits::max(), Limits::min()})),
            (Cells{"s", "9,223,372,036.855", "-9,223,372,036.855"}));
  EXPECT_EQ(Format(Ints(Unit::kNone, {Limits::min() + 1})), (Cells{"", "-9223372036854775807"}));
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {-1, 5'000'000})), (Cells{"ms", ">-0.001", "5.000"}));
}

TEST(Units, BytesCountsSharesAndRates) {
  EXPECT_EQ(Format(Ints(Unit::kBytes, {12'345'678, 5})), (Cells{"MB", "12.346", "<0.001"}));
  EXPECT_EQ(Format(Ints(Unit::kBytes, {999})), (Cells{"B", "999"}));
  EXPECT_EQ(Format(Ints(Unit::kCount, {1'234'567, -1'000, 12})),
            (Cells{"", "1,234,567", "-1,000", "12"}));
  EXPECT_EQ(Format(Floats(Unit::kCount, {2.0, 1024.0})), (Cells{"", "2", "1,024"}));
  EXPECT_EQ(Format(Floats(Unit::kCount, {2.25})), (Cells{"", "2.250"}));
  EXPECT_EQ(Format(Floats(Unit::kShare, {0.1234, 1.0, -0.0001})),
            (Cells{"%", "12.3", "100.0", ">-0.1"}));
  EXPECT_EQ(Format(Floats(Unit::kPercent, {12.34})), (Cells{"%", "12.34"}));
  EXPECT_EQ(Format(Floats(Unit::kGigabytesPerSecond, {1234.5})), (Cells{"GB/s", "1,234.500"}));
  EXPECT_EQ(Format(Floats(Unit::kFlops, {2.5e12})), (Cells{"TFLOP", "2.500"}));
  EXPECT_EQ(Format(Ints(Unit::kMicroseconds, {1234})), (Cells{"us", "1,234"}));
}

Column Keys(Unit unit, IntValues values) {
  Column column = Ints(unit, std::move(values));
  column.role = Role::kKey;
  return column;
}

TEST(Units, KeysAreScaledAsOtherNumbersWhereThatTellsThemApart) {
  const IntValues sizes{4'194'304, 100'769'792, 131'072'000, 4'194'304};
  EXPECT_EQ(Format(Keys(Unit::kBytes, sizes)), Format(Ints(Unit::kBytes, sizes)));
  EXPECT_EQ(Format(Keys(Unit::kNanoseconds, {0, 10'000, 10'000'000})),
            (Cells{"ms", "0.000", "0.010", "10.000"}));
  EXPECT_EQ(Format(Keys(Unit::kBytes, {})), (Cells{"B"}));
}

TEST(Units, KeysThatWouldLookAlikeAreWholeNumbersOfASmallerUnit) {
  for (const Precision precision : {Precision::kFull, Precision::kCompact}) {
    EXPECT_EQ(Format(Keys(Unit::kBytes, {4, 8, 16, 4096, 102'760'448}), precision),
              (Cells{"B", "4", "8", "16", "4,096", "102,760,448"}));
    EXPECT_EQ(Format(Keys(Unit::kBytes, {5'000'000'000, 5'000'004'000}), precision),
              (Cells{"KB", "5,000,000", "5,000,004"}));
  }
  // None may look like zero, nor be far from what it is.
  EXPECT_EQ(Format(Keys(Unit::kNanoseconds, {0, 1'000, 10'000'000}), Precision::kCompact),
            (Cells{"us", "0", "1", "10,000"}));
  EXPECT_EQ(Format(Keys(Unit::kBytes, {1'400, 2'000'000})), (Cells{"B", "1,400", "2,000,000"}));
}

TEST(Units, KeysTooLongForASmallerUnitHaveMoreDecimals) {
  EXPECT_EQ(Format(Keys(Unit::kBytes, {5'000'000'000'001, 5'000'000'200'000})),
            (Cells{"TB", "5.0000000", "5.0000002"}));
  EXPECT_EQ(Format(Keys(Unit::kBytes, {Limits::max(), 1})),
            (Cells{"TB", "9,223,372.036854775807", "0.000000000001"}));
}

TEST(Units, NamesOfThingsHaveNoSeparators) {
  EXPECT_EQ(Format(Ints(Unit::kNone, {123456})), (Cells{"", "123456"}));
}

TEST(Units, WallClockTimesAreDates) {
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {1'709'210'096'789'123'456}, "begin_unix_ns")),
            (Cells{"", "2024-02-29 12:34:56.789 UTC"}));
}

TEST(Units, MomentsAreWrittenAsInTheFile) {
  EXPECT_EQ(Format(Ints(Unit::kNanoseconds, {1'709'210'096'789'123'456, -5}, "ts_ns")),
            (Cells{"us", "1709210096789123.456", "-0.005"}));
}

TEST(Units, WhatIsNotThereIsADash) {
  Column column = Ints(Unit::kCount, {1, 0});
  column.missing = {0, 1};
  EXPECT_EQ(Format(column), (Cells{"", "1", "-"}));
  EXPECT_EQ(Format(Floats(Unit::kNone, {std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::infinity(), 0.5})),
            (Cells{"", "-", "-", "0.500"}));
}

TEST(Units, BytesForMessages) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(12'345'678), "12.3 MB");
}

Table Tables() {
  Table table{"verdict", "Verdict", {}};
  AddString(table, "finding", Role::kKey, "");
  AddFloat(table, "value", Unit::kOfRow, Role::kDerived, "The deciding number.");
  AddString(table, "unit", Role::kDerived, "");
  return table;
}

void Add(Table& table, double value, const char* unit) {
  Push(table.columns[0], "one");
  Push(table.columns[1], value);
  Push(table.columns[2], unit);
}

std::string ValueAt(const Table& table, size_t row) {
  return std::string(std::get<StringValues>(table.Find("value")->values)[row]);
}

TEST(RowUnitsTest, EachValueIsWrittenInItsUnit) {
  Table table = Tables();
  Add(table, 0.19, "share");
  Add(table, 1.4249, "ratio");
  Add(table, 12345, "count");
  Add(table, 7, "TFLOP/s");
  Add(table, 310.5e6, "ns");
  Add(table, 2e9, "bytes");
  const Table shown = WithRowUnits(std::move(table));
  EXPECT_EQ(shown.Find("unit"), nullptr);
  EXPECT_EQ(ValueAt(shown, 0), "19.0 %");
  EXPECT_EQ(ValueAt(shown, 1), "1.425 x");
  EXPECT_EQ(ValueAt(shown, 2), "12,345");
  EXPECT_EQ(ValueAt(shown, 3), "7.000 TFLOP/s");
  EXPECT_EQ(ValueAt(shown, 4), "310.5 ms");
  EXPECT_EQ(ValueAt(shown, 5), "2.000 GB");
}

TEST(RowUnitsTest, WhatIsNoNumberIsMissing) {
  Table table = Tables();
  Add(table, std::numeric_limits<double>::quiet_NaN(), "share");
  Push(table.columns[0], "one");
  PushMissing(table.columns[1]);
  Push(table.columns[2], "share");
  const Table shown = WithRowUnits(std::move(table));
  EXPECT_TRUE(shown.Find("value")->IsMissing(0));
  EXPECT_TRUE(shown.Find("value")->IsMissing(1));
}

TEST(RowUnitsTest, SeveralColumnsShareTheUnit) {
  Table table = Tables();
  table.columns.push_back(EmptyLike(table.columns[1]));
  table.columns.back().name = "limit";
  Add(table, 0.5, "share");
  Push(table.columns[3], 0.25);
  const Table shown = WithRowUnits(std::move(table));
  EXPECT_EQ(ValueAt(shown, 0), "50.0 %");
  EXPECT_EQ(std::get<StringValues>(shown.Find("limit")->values)[0], "25.0 %");
}

TEST(RowUnitsTest, OtherTablesStay) {
  Table table = Tables();
  Add(table, 0.5, "share");
  table.columns.pop_back();
  EXPECT_EQ(std::get<FloatValues>(WithRowUnits(table).Find("value")->values)[0], 0.5);

  Table comparison = Tables();
  comparison.columns.push_back(EmptyLike(comparison.columns[1], "against_"));
  Add(comparison, 0.5, "share");
  Push(comparison.columns[3], 0.25);
  EXPECT_NE(WithRowUnits(comparison).Find("unit"), nullptr);

  Table of_a_user = Tables();  // whose names of columns mean nothing
  of_a_user.columns[1].unit = Unit::kNone;
  Add(of_a_user, 0.5, "share");
  EXPECT_EQ(std::get<FloatValues>(WithRowUnits(of_a_user).Find("value")->values)[0], 0.5);
}

}  // namespace

}  // namespace borescope::internal
