#include "borescope/analysis/measures/time/duration_stats.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "borescope/table/table_ops.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

DurationStats StatsOf(const std::vector<int64_t>& durations) {
  DurationStats stats;
  for (const int64_t dur_ns : durations) {
    stats.Add(dur_ns);
  }
  return stats;
}

Table TableOf(const std::vector<DurationStats>& rows) {
  Table table{"t", "", {}};
  AddString(table, "name", Role::kKey, "");
  AddStatsColumns(table, "things");
  for (const DurationStats& stats : rows) {
    Row row(table);
    row.Text("k");
    PushStats(row, stats);
  }
  return table;
}

double Deviation(const Table& table) {
  return std::get<FloatValues>(table.Find("stddev_ns")->values)[0];
}

TEST(DurationStatsTest, KnownDeviations) {
  const DurationStats stats = StatsOf({10, 20, 30});
  EXPECT_DOUBLE_EQ(StandardDeviation(stats.count, stats.total_ns, stats.square_sum), 10.0);
  EXPECT_EQ(stats.min_ns, 10);
  EXPECT_EQ(stats.max_ns, 30);
  EXPECT_EQ(StandardDeviation(1, 5, 25), 0.0);
}

TEST(DurationStatsTest, SmallSpreadOfLongDurationsSurvives) {
  // In double the squares of a day differ by less than their rounding.
  const int64_t day = 86'400'000'000'000;
  const DurationStats stats = StatsOf({day, day + 2, day + 4});
  EXPECT_DOUBLE_EQ(StandardDeviation(stats.count, stats.total_ns, stats.square_sum), 2.0);
}

TEST(DurationStatsTest, MergedRowsEqualTheWhole) {
  const std::vector<int64_t> a = {1'000'003, 7, 123'456'789'012};
  const std::vector<int64_t> b = {5, 5'000'000'000'000};
  std::vector<int64_t> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const Table whole = FinishStatsTable(TableOf({StatsOf(all)}));
  const Table merged = FinishStatsTable(MergeByKey(TableOf({StatsOf(a), StatsOf(b)})));
  EXPECT_EQ(Deviation(whole), Deviation(merged));
  EXPECT_EQ(Ints(merged, "count")[0], 5);
  EXPECT_EQ(Ints(merged, "min_ns")[0], 5);
  EXPECT_EQ(Ints(merged, "max_ns")[0], 5'000'000'000'000);
  EXPECT_EQ(merged.Find("square_sum_low"), nullptr);
}

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
