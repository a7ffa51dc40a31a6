#include "borescope/output/units/row_units.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {
namespace {

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
