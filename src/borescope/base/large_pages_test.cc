#include "borescope/base/large_pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

namespace borescope::internal {
namespace {

TEST(LargePagesTest, AdviceChangesNoContent) {
  std::vector<uint32_t> values(size_t{3} << 20);
  std::iota(values.begin(), values.end(), 0U);
  const std::vector<uint32_t> before = values;
  for (const size_t skip : {0, 1, 1000}) {
    PreferLargePages(values.data() + skip, (values.size() - skip) * sizeof(uint32_t));
  }
  PreferLargePages(values.data(), 1);
  PreferLargePages(values.data(), 0);
  EXPECT_EQ(values, before);
}

TEST(LargePagesTest, ReservingKeepsValuesAndNeverShrinks) {
  std::vector<int> values = {1, 2, 3};
  ReserveInLargePages(values, 1'000'000);
  EXPECT_EQ(values, (std::vector<int>{1, 2, 3}));
  EXPECT_GE(values.capacity(), 1'000'000U);
  const int* data = values.data();
  ReserveInLargePages(values, 10);
  GrowInLargePages(values, 100);
  EXPECT_EQ(values.data(), data);
}

// Few copies, however often it grows.
TEST(LargePagesTest, GrowingAtLeastDoubles) {
  std::vector<char> values;
  size_t moves = 0;
  for (int i = 0; i < 100'000; ++i) {
    const char* data = values.data();
    GrowInLargePages(values, 1);
    values.push_back('x');
    moves += values.data() == data ? 0 : 1;
  }
  EXPECT_LE(moves, 20U);
}

}  // namespace
}  // namespace borescope::internal
