#include "borescope/table/fit.h"

#include <gtest/gtest.h>

#include <variant>

namespace borescope::internal {
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

// Depth and width of rows in preorder.
Table Tree(const std::vector<std::pair<int64_t, int64_t>>& rows) {
  Table table{"flame", "T", {}};
  AddInt(table, "depth", Unit::kNone, Role::kKey, "");
  AddInt(table, "v", Unit::kNone, Role::kSum, "");
  for (const auto& [depth, width] : rows) {
    Push(table.columns[0], depth);
    Push(table.columns[1], width);
  }
  return table;
}

TEST(FitTest, OfATreeStaysWhatIsLargeAndWhatIsAroundIt) {
  const std::vector<std::string> width = {"v", "absent"};
  const Table tree = Tree({{0, 9}, {1, 1}, {1, 8}, {2, 8}, {0, 5}, {1, 5}});
  const auto widths = [&](size_t rows) {
    return std::get<IntValues>(LargestRows(tree, width, rows, 1000).columns[1].values);
  };
  EXPECT_EQ(widths(6), (IntValues{9, 1, 8, 8, 5, 5}));
  EXPECT_EQ(widths(4), (IntValues{9, 8, 8, 5}));
  EXPECT_EQ(widths(3), (IntValues{9, 8, 5}));
  EXPECT_EQ(widths(2), (IntValues{9, 5}));                // the outermost ones first
  EXPECT_EQ(LargestRows(tree, width, 6, 45).rows(), 2U);  // ten bytes per number
  EXPECT_EQ(LargestRows(tree, width, 6, 1).rows(), 1U);
}

}  // namespace
}  // namespace borescope::internal
