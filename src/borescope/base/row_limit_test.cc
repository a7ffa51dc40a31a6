#include "borescope/base/row_limit.h"

#include <gtest/gtest.h>

#include <string>

namespace borescope::internal {
namespace {

TEST(RowLimitTest, TheLimitItselfIsAllowed) {
  EXPECT_EQ(CheckedRows(size_t{kMostNumbers}, "rows"), kMostNumbers);
  EXPECT_THROW(CheckedRows(size_t{kMostNumbers} + 1, "rows"), TooManyRows);
}

TEST(RowLimitTest, ItEndsAsAnError) {
  const RowLimitForTest limit(2);
  const Result<uint32_t> result =
      WithNumberedRows([]() -> Result<uint32_t> { return CheckedRows(3, "rows of a table"); });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(result.error().Sentence().starts_with("more than 2 rows of a table,"))
      << result.error().Sentence();
}

}  // namespace
}  // namespace borescope::internal
