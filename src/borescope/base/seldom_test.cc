#include "borescope/base/seldom.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "borescope/base/column_data.h"

namespace borescope::internal {
namespace {

using Number = Seldom<int64_t, std::numeric_limits<int64_t>::min()>;
using Row = Seldom<uint32_t, std::numeric_limits<uint32_t>::max()>;

TEST(SeldomTest, IsTheNumberItWasGiven) {
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, int64_t{7}, std::numeric_limits<int64_t>::min(),
        std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(int64_t{Number(value)}, value);
  }
  Row row = 3U;
  row = row + 2;
  EXPECT_EQ(row, 5U);
  EXPECT_EQ(Row(), std::numeric_limits<uint32_t>::max());
}

TEST(SeldomTest, NoneIsZeroInMemory) {
  const ColumnData<Number> none(3, Number(std::numeric_limits<int64_t>::min()));
  const ColumnData<Row> no_rows(3, Row());
  EXPECT_TRUE(AreZeros(none.data(), sizeof(Number) * none.size()));
  EXPECT_TRUE(AreZeros(no_rows.data(), sizeof(Row) * no_rows.size()));
}

}  // namespace
}  // namespace borescope::internal
