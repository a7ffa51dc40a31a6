#include "borescope/base/statistics/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope::internal {
namespace {

// The first numbers of the seed 1234567, as the authors' program prints them.
TEST(SplitMix64, GivesTheNumbersOfItsAuthors) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317U);
  EXPECT_EQ(random.Next(), 3203168211198807973U);
  EXPECT_EQ(random.Next(), 9817491932198370423U);
}

TEST(Quantiles, LieBetweenNeighbours) {
  std::vector<double> values = {4, 1, 3, 2};
  EXPECT_EQ(QuantileOf(std::span(values), 0.0), 1.0);
  EXPECT_EQ(QuantileOf(std::span(values), 0.5), 2.5);
  EXPECT_EQ(QuantileOf(std::span(values), 0.9), 3.0 + 0.9 * 3 - 2);
  EXPECT_EQ(QuantileOf(std::span(values), 1.0), 4.0);
  std::vector<int64_t> one = {7};
  EXPECT_EQ(QuantileOf(std::span(one), 0.9), 7.0);
}

TEST(Medians, AreTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(MedianOf({3, 1, 2}), 2.0);
  EXPECT_EQ(MedianOf({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(MedianOfSorted(std::vector<double>{5}), 5.0);
}

}  // namespace
}  // namespace borescope::internal
