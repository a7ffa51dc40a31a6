#include "borescope/table/table_fault.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

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
