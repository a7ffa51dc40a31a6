#include "borescope/trace/sort_rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace borescope::internal {
namespace {

std::vector<uint32_t> RowNumbers(size_t count) {
  std::vector<uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
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

TEST(OrderByTrackThreadsTest, OneTrackWithMostRowsIsSortedBySeveralThreads) {
  std::mt19937 random(9);
  std::vector<uint32_t> tracks(400'000);
  std::vector<int> keys(tracks.size());
  std::generate(tracks.begin(), tracks.end(), [&] { return random() % 16 == 0 ? 0 : 1; });
  std::generate(keys.begin(), keys.end(), [&] { return static_cast<int>(random() % 1000); });
  std::vector<uint32_t> want = RowNumbers(tracks.size());
  std::stable_sort(want.begin(), want.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(tracks[a], keys[a]) < std::pair(tracks[b], keys[b]);
  });
  const TrackOrder order = OrderByTrack(
      tracks.size(), 2, [&](uint32_t row) { return tracks[row]; },
      [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; }, 4);
  EXPECT_EQ(order.rows, want);
}

}  // namespace
}  // namespace borescope::internal
