#include "borescope/packs/hta/numbers.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope::internal {
namespace {

TEST(HtaNumbersTest, RoundsHalfToEven) {
  EXPECT_EQ(HtaRound(0.125, 2), 0.12);
  EXPECT_EQ(HtaRound(0.375, 2), 0.38);
  EXPECT_EQ(HtaRound(-2.5, 0), -2.0);
  EXPECT_EQ(HtaRound(1092.5449, 3), 1092.545);
}

TEST(HtaNumbersTest, DescribesLikePandas) {
  const HtaStats stats = HtaDescribe({{40}, {10}, {30}, {20}});
  EXPECT_EQ(stats.count, 4);
  EXPECT_EQ(stats.mean, 25.0);
  EXPECT_NEAR(stats.stddev, 12.909944487358056, 1e-12);
  EXPECT_EQ(stats.min, 10.0);
  EXPECT_EQ(stats.p25, 17.5);
  EXPECT_EQ(stats.p50, 25.0);
  EXPECT_EQ(stats.p75, 32.5);
  EXPECT_EQ(stats.max, 40.0);
}

TEST(HtaNumbersTest, RepeatedValuesCountAsOftenAsTheyOccur) {
  const HtaStats repeated = HtaDescribe({{5, 3}, {1, 2}});
  const HtaStats listed = HtaDescribe({{5}, {5}, {5}, {1}, {1}});
  EXPECT_EQ(repeated.count, listed.count);
  EXPECT_EQ(repeated.mean, listed.mean);
  EXPECT_DOUBLE_EQ(repeated.stddev, listed.stddev);
  EXPECT_EQ(repeated.p25, listed.p25);
  EXPECT_EQ(repeated.p50, listed.p50);
  EXPECT_EQ(HtaQuantile({{1, 2}, {5, 3}}, 0.375), 3.0);
}

TEST(HtaNumbersTest, WhatPandasHasNoNumberForIsMissing) {
  Table table{"t", "", {}};
  AddHtaStats(table, Unit::kMicroseconds, "_us", "gaps");
  {
    Row row(table);
    PushHtaStats(row, HtaDescribe({}), 2);
  }
  Row row(table);
  PushHtaStats(row, HtaDescribe({{1.005}}), 1);
  EXPECT_EQ(table.Find("count")->name, table.columns[0].name);
  EXPECT_TRUE(table.Find("mean_us")->IsMissing(0));
  EXPECT_FALSE(table.Find("mean_us")->IsMissing(1));
  EXPECT_TRUE(table.Find("std_us")->IsMissing(1));
  EXPECT_EQ(std::get<FloatValues>(table.Find("max_us")->values)[1], 1.0);
}

}  // namespace
}  // namespace borescope::internal
