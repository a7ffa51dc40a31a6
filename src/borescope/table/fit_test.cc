#include "borescope/table/fit.h"

#include <gtest/gtest.h>

#include <variant>

namespace borescope {
namespace {

Table Numbers(const std::vector<int64_t>& values) {
  Table table{"t", "T", {}};
  Column& column = AddInt(table, "v", Unit::kNone, Role::kSum, "");
  for (const int64_t value : values) {
    Push(column, value);
  }
  return table;
}

const IntValues& Values(const Table& table) {
  return std::get<IntValues>(table.columns.front().values);
}

TEST(FitTest, RowsAreLimitedByNumberAndByText) {
  Table table{"t", "T", {}};
  Column& column = AddString(table, "name", Role::kKey, "");
  for (int i = 0; i < 10; ++i) {
    Push(column, std::string_view("0123456"));
  }
  EXPECT_EQ(RowsThatFit(table, 100, 1000), 10U);
  EXPECT_EQ(RowsThatFit(table, 3, 1000), 3U);
  EXPECT_EQ(RowsThatFit(table, 100, 45), 4U);
  EXPECT_EQ(RowsThatFit(table, 100, 1), 1U);  // at least one, however long
  EXPECT_EQ(RowsThatFit(Table(), 100, 1), 0U);
}

TEST(FitTest, AnOutlineKeepsTheExtremesOfEveryStretch) {
  const Table table = Numbers({1, 9, 2, 3, 5, 5, 0, 7});
  EXPECT_EQ(Values(Outline(table, "v", 4)), (IntValues{1, 9, 0, 7}));
  EXPECT_EQ(Values(Outline(table, "v", 8)), Values(table));
  EXPECT_EQ(Values(Outline(table, "absent", 2)), (IntValues{1, 9}));
  EXPECT_EQ(Values(Outline(Numbers({4, 4, 4}), "v", 1)), (IntValues{4}));
}

}  // namespace
}  // namespace borescope
