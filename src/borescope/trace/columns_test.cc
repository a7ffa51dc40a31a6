#include "borescope/trace/columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace borescope::internal {
namespace {

// Rows whose values say which row and which column they are of. Columns of positions stay empty, as
// in files that have none.
DeviceEvents NumberedRows(uint32_t rows) {
  DeviceEvents events;
  for (uint32_t row = 0; row < rows; ++row) {
    events.ts_ns.push_back(int64_t{row} * 7);
    events.dur_ns.push_back(int64_t{row} * 11 + 1);
    events.name.push_back({row + 2});
    events.track.push_back({row + 3});
    events.kind.push_back(static_cast<DeviceKind>(row % 5));
    events.correlation.push_back(int64_t{row} + 4);
    events.external_id.push_back(int64_t{row} + 5);
    events.detail.push_back(row + 6);
  }
  return events;
}

std::vector<uint32_t> ShuffledNumbers(uint32_t count) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937(count));
  return order;
}

// The slow twin: every row of its own, in new columns.
DeviceEvents RowByRow(const DeviceEvents& events, const std::vector<uint32_t>& order) {
  DeviceEvents moved;
  ForEachColumn(
      [&](auto& to, const auto& from) {
        for (size_t i = 0; i < from.size(); ++i) {
          to.push_back(from[order[i]]);
        }
      },
      moved, events);
  return moved;
}

// Rows enough that all columns, some of them, and none are large blocks.
TEST(PermuteRowsThreadsTest, ColumnsOfEveryWidthShareMemoryAndKeepTheirValues) {
  for (const uint32_t rows : {0U, 1U, 100U, 50'001U, 300'007U}) {
    const std::vector<uint32_t> order = ShuffledNumbers(rows);
    const DeviceEvents before = NumberedRows(rows);
    const DeviceEvents want = RowByRow(before, order);
    for (const int threads : {1, 2, 5}) {
      DeviceEvents got = before;
      PermuteRows(got, order, threads);
      ForEachColumn(
          [&](const auto& a, const auto& b) {
            EXPECT_EQ(a, b) << rows << " rows, " << threads << " threads";
          },
          got, want);
    }
  }
}

TEST(PermuteRowsThreadsTest, NoColumnKeepsMoreMemoryThanItsRowsNeed) {
  constexpr uint32_t kRows = 100'000;
  DeviceEvents events = NumberedRows(kRows);
  events.ts_ns.reserve(2 * kRows);
  events.kind.reserve(2 * kRows);
  PermuteRows(events, ShuffledNumbers(kRows), 2);
  ForEachColumn([&](const auto& column) { EXPECT_EQ(column.capacity(), column.size()); }, events);
}

}  // namespace
}  // namespace borescope::internal
