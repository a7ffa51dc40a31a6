#include "borescope/opmodel/values/quantity.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

constexpr int64_t kLarge = int64_t{1} << 40;

TEST(QuantityTest, CountsUntilItCannot) {
  EXPECT_EQ((Quantity(3) * 4 + 5).value(), 17U);
  EXPECT_TRUE((Quantity(kLarge) * kLarge).is_overflow());
  EXPECT_TRUE((Quantity(~uint64_t{0} - 1) + 2).is_overflow());
}

TEST(QuantityTest, WhatIsLostStaysLost) {
  const Quantity lost = Quantity(kLarge) * kLarge;
  EXPECT_TRUE((lost * 0).is_overflow());
  EXPECT_TRUE((Quantity(0) + lost).is_overflow());
  EXPECT_TRUE((lost - 1).is_overflow());
  EXPECT_TRUE(lost.DividedUp(2).is_overflow());
}

TEST(QuantityTest, NothingIsNegative) {
  EXPECT_TRUE(Quantity(-1).is_overflow());
  EXPECT_TRUE((Quantity(1) - 2).is_overflow());
  EXPECT_EQ((Quantity(5) - 2).value(), 3U);
}

TEST(QuantityTest, HalvesAreRoundedUp) {
  EXPECT_EQ(Quantity(5).DividedUp(2).value(), 3U);
  EXPECT_EQ(Quantity(4).DividedUp(2).value(), 2U);
  EXPECT_EQ(Quantity(0).DividedUp(8).value(), 0U);
}

}  // namespace
}  // namespace borescope::internal
