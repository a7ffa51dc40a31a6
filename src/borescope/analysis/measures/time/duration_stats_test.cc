#include "borescope/analysis/measures/time/duration_stats.h"

#include <gtest/gtest.h>

#include <vector>

#include "borescope/table/table_ops.h"

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

}  // namespace
}  // namespace borescope::internal
