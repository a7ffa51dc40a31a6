#include "borescope/base/saturating.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(SaturatingTest, SumsStopAtTheEndsOfTheRange) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(AddSaturating(2, -5), -3);
  EXPECT_EQ(AddSaturating(kMost, 0), kMost);
  EXPECT_EQ(AddSaturating(kMost, 1), kMost);
  EXPECT_EQ(AddSaturating(1, kMost), kMost);
  EXPECT_EQ(AddSaturating(kLeast, -1), kLeast);
  EXPECT_EQ(AddSaturating(kLeast, kMost), -1);
  int64_t sum = kMost - 1;
  AddSaturatingTo(sum, 3);
  EXPECT_EQ(sum, kMost);
}

TEST(SaturatingTest, DifferencesStopAtTheEndsOfTheRange) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(SubtractSaturating(2, 5), -3);
  EXPECT_EQ(SubtractSaturating(kLeast, 1), kLeast);
  EXPECT_EQ(SubtractSaturating(0, kLeast), kMost);
  EXPECT_EQ(SubtractSaturating(kMost, -1), kMost);
  EXPECT_EQ(SubtractSaturating(kLeast, kLeast), 0);
}

TEST(SaturatingTest, NumbersAreCutToTheRange) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(TruncateSaturating(2.9), 2);
  EXPECT_EQ(TruncateSaturating(-2.9), -2);
  EXPECT_EQ(TruncateSaturating(static_cast<double>(kMost)), kMost);  // which is 2^63
  EXPECT_EQ(TruncateSaturating(static_cast<double>(kLeast)), kLeast);
  EXPECT_EQ(TruncateSaturating(-1e300), kLeast);
  EXPECT_EQ(TruncateSaturating(std::numeric_limits<double>::infinity()), kMost);
  EXPECT_EQ(TruncateSaturating(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace borescope::internal
