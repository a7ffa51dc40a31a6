#include "borescope/analysis/measures/time/quantiles.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

double Of(std::vector<int64_t> values, double q) { return Quantile(values, q); }

TEST(QuantilesTest, LinearInterpolation) {
  EXPECT_EQ(Of({7}, 0.25), 7.0);
  EXPECT_EQ(Of({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(Of({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(Of({4, 1, 3, 2}, 0.75), 3.25);
  EXPECT_EQ(Of({5, 1, 4, 2, 3}, 0.75), 4.0);
  EXPECT_EQ(Of({30, 10, 20}, 0.0), 10.0);
  EXPECT_EQ(Of({30, 10, 20}, 1.0), 30.0);
  EXPECT_EQ(Of({3, 3, 3, 3}, 0.5), 3.0);
}

TEST(QuantilesTest, Rates) {
  std::vector<double> rates = {0.5, 2.5, 1.5, 10.0};
  EXPECT_EQ(Quantile(rates, 0.5), 2.0);
}

TEST(QuantilesTest, AllOfASample) {
  std::vector<int64_t> values = {10, 40, 20, 30};
  const SampleStats stats = StatsOfSamples(values);
  EXPECT_EQ(stats.count, 4);
  EXPECT_EQ(stats.total, 100);
  EXPECT_EQ(stats.mean, 25.0);
  EXPECT_NEAR(stats.stddev, 12.909944487358056, 1e-12);
  EXPECT_EQ(stats.min, 10);
  EXPECT_EQ(stats.p25, 17.5);
  EXPECT_EQ(stats.p50, 25.0);
  EXPECT_EQ(stats.p75, 32.5);
  EXPECT_EQ(stats.max, 40);
}

TEST(QuantilesTest, SmallAndHugeSamples) {
  std::vector<int64_t> none;
  std::vector<int64_t> one = {5};
  std::vector<int64_t> huge = {kMost, kMost, 0};
  EXPECT_EQ(StatsOfSamples(none).count, 0);
  EXPECT_EQ(StatsOfSamples(one).stddev, 0.0);
  EXPECT_EQ(StatsOfSamples(one).p75, 5.0);
  EXPECT_EQ(StatsOfSamples(huge).total, kMost);
  EXPECT_EQ(StatsOfSamples(huge).p50, static_cast<double>(kMost));
}

TEST(QuantilesTest, Columns) {
  Table table{"t", "", {}};
  AddSampleColumns(table, Unit::kNanoseconds, "_ns", "gap");
  std::vector<int64_t> values = {1, 2};
  {
    Row row(table);
    PushSamples(row, StatsOfSamples(values));
  }
  Row row(table);
  PushSamples(row, {});
  EXPECT_EQ(Csv(table),
            "mean_ns,stddev_ns,min_ns,p25_ns,p50_ns,p75_ns,max_ns\n"
            "1.5,0.707107,1,1.25,1.5,1.75,2\n-,-,-,-,-,-,-\n");
}

}  // namespace
}  // namespace borescope::internal
