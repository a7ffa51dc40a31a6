#include "borescope/table/table.h"

#include <gtest/gtest.h>

namespace borescope::internal {

namespace {

TEST(Table, FindsColumnsByName) {
  Table table{"t", "T", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "Rank.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Share.");
  ASSERT_NE(table.Find("share"), nullptr);
  EXPECT_EQ(table.Find("share")->unit, Unit::kShare);
  EXPECT_EQ(table.Find("absent"), nullptr);
  EXPECT_EQ(table.rows(), 0U);
}

TEST(Table, AMissingCellKeepsTheColumnsInStep) {
  Table table{"t", "T", {}};
  Column& column = AddString(table, "name", Role::kKey, "");
  Push(column, "a literal is text");
  EXPECT_TRUE(column.missing.empty());
  PushMissing(column);
  Push(column, std::string_view("b"));
  PushOptional(column, std::optional<std::string>());
  EXPECT_EQ(column.size(), 4U);
  EXPECT_EQ(column.missing, (std::vector<char>{0, 1, 0, 1}));
  EXPECT_TRUE(column.IsMissing(3));
}

TEST(Table, EveryTypeHoldsItsCells) {
  Table table{"t", "T", {}};
  Push(AddInt(table, "i", Unit::kCount, Role::kSum, ""), int64_t{7});
  Push(AddFloat(table, "f", Unit::kNone, Role::kSum, ""), 0.5);
  Push(AddBool(table, "b", Role::kDerived, ""), true);
  EXPECT_EQ(std::get<IntValues>(table.columns[0].values).front(), 7);
  EXPECT_EQ(std::get<FloatValues>(table.columns[1].values).front(), 0.5);
  EXPECT_EQ(std::get<BoolValues>(table.columns[2].values).front(), 1);
  EXPECT_EQ(table.rows(), 1U);
}

TEST(Table, AColumnLikeAnotherHasNoCells) {
  Table table{"t", "T", {}};
  Push(AddInt(table, "size_bytes", Unit::kBytes, Role::kSum, "Its size."), int64_t{7});
  PushMissing(table.columns[0]);
  table.columns[0].hints.tone = Tone::kCopy;
  PushMissing(AddString(table, "name", Role::kKey, ""));
  const Column like = EmptyLike(table.columns[0], "other_");
  EXPECT_EQ(like.name, "other_size_bytes");
  EXPECT_EQ(like.unit, Unit::kBytes);
  EXPECT_EQ(like.role, Role::kSum);
  EXPECT_EQ(like.doc, "Its size.");
  EXPECT_EQ(like.hints.tone, Tone::kCopy);
  EXPECT_EQ(like.size(), 0U);
  EXPECT_TRUE(like.missing.empty());
  EXPECT_TRUE(like.IsNumber());
  EXPECT_FALSE(EmptyLike(table.columns[1]).IsNumber());
}

TEST(TableDeathTest, AValueOfAnotherTypeIsOurBug) {
  Table table{"t", "T", {}};
  Column& column = AddInt(table, "i", Unit::kCount, Role::kSum, "");
  EXPECT_DEATH(Push(column, 0.5), "values != nullptr");
}

TEST(TableFault, AProperTableHasNone) {
  Table table{"t", "", {}};
  EXPECT_EQ(FaultOf(table), "");
  AddString(table, "name", Role::kKey, "");
  AddFloat(table, "total", Unit::kNone, Role::kSum, "");
  EXPECT_EQ(FaultOf(table), "");
}

TEST(TableFault, ColumnsOfUnequalLength) {
  Table table{"t", "", {}};
  AddInt(table, "a", Unit::kNone, Role::kKey, "");
  Push(AddInt(table, "b", Unit::kNone, Role::kKey, ""), int64_t{1});
  EXPECT_EQ(FaultOf(table), "columns of 0 and of 1 rows");
}

TEST(TableFault, OneNameTwice) {
  Table table{"t", "", {}};
  AddInt(table, "a", Unit::kNone, Role::kKey, "");
  AddInt(table, "b", Unit::kNone, Role::kKey, "");
  table.columns[1].name = "a";
  EXPECT_EQ(FaultOf(table), "two columns of one name");
}

TEST(TableFault, SumsOfTexts) {
  Table table{"t", "", {}};
  AddString(table, "a", Role::kSum, "");
  EXPECT_EQ(FaultOf(table), "sums that are no numbers");
}

}  // namespace

}  // namespace borescope::internal
