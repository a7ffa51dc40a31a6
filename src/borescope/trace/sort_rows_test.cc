#include "borescope/trace/sort_rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace borescope {
namespace {

std::vector<uint32_t> RowNumbers(size_t count) {
  std::vector<uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

// Stability shows because equal keys have different row numbers.
void ExpectSortsLikeStableSort(const std::vector<int>& keys) {
  const auto less = [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; };
  std::vector<uint32_t> got = RowNumbers(keys.size());
  std::vector<uint32_t> want = got;
  SortRuns(std::span(got), less);
  std::stable_sort(want.begin(), want.end(), less);
  EXPECT_EQ(got, want);
}

TEST(SortRunsTest, SmallAndDegenerateInputs) {
  ExpectSortsLikeStableSort({});
  ExpectSortsLikeStableSort({1});
  ExpectSortsLikeStableSort({2, 1});
  ExpectSortsLikeStableSort({1, 1, 1});
  ExpectSortsLikeStableSort({3, 2, 1, 0});
}

TEST(SortRunsTest, AnyNumberOfRunsIsMergedStably) {
  std::mt19937 random(5);
  for (size_t runs = 1; runs <= 33; ++runs) {
    std::vector<int> keys;
    for (size_t run = 0; run < runs; ++run) {
      std::vector<int> part(20 + random() % 50);
      std::generate(part.begin(), part.end(), [&] { return static_cast<int>(random() % 100); });
      std::sort(part.begin(), part.end());
      keys.insert(keys.end(), part.begin(), part.end());
    }
    SCOPED_TRACE(runs);
    ExpectSortsLikeStableSort(keys);
  }
}

TEST(SortRunsTest, NoiseFallsBackToAnOrdinarySort) {
  std::mt19937 random(6);
  for (const size_t size : {2UL, 9UL, 17UL, 1000UL}) {
    std::vector<int> keys(size);
    std::generate(keys.begin(), keys.end(), [&] { return static_cast<int>(random() % 50); });
    ExpectSortsLikeStableSort(keys);
  }
}

TEST(OrderByTrackTest, GroupsByTrackAndSortsEach) {
  const std::vector<uint32_t> tracks{2, 0, 2, 0, 2};
  const std::vector<int> keys{5, 9, 3, 1, 4};
  const TrackOrder order = OrderByTrack(
      5, 4, [&](uint32_t row) { return tracks[row]; },
      [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; }, 1);
  EXPECT_EQ(order.rows, (std::vector<uint32_t>{3, 1, 2, 4, 0}));
  EXPECT_EQ(order.first, (std::vector<uint32_t>{0, 2, 2, 5, 5}));
}

TEST(OrderByTrackThreadsTest, ThreadsChangeNothing) {
  std::mt19937 random(8);
  std::vector<uint32_t> tracks(5000);
  std::vector<int> keys(tracks.size());
  std::generate(tracks.begin(), tracks.end(), [&] { return random() % 23; });
  std::generate(keys.begin(), keys.end(), [&] { return static_cast<int>(random() % 100); });
  const auto order = [&](int threads) {
    return OrderByTrack(
               tracks.size(), 23, [&](uint32_t row) { return tracks[row]; },
               [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; }, threads)
        .rows;
  };
  std::vector<uint32_t> want = RowNumbers(tracks.size());
  std::stable_sort(want.begin(), want.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(tracks[a], keys[a]) < std::pair(tracks[b], keys[b]);
  });
  EXPECT_EQ(order(1), want);
  EXPECT_EQ(order(5), want);
}

}  // namespace
}  // namespace borescope
