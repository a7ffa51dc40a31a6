#include "borescope/base/sort_runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>

namespace borescope::internal {
namespace {

// Stability shows because equal keys have different row numbers.
void ExpectSortsLikeStableSort(const std::vector<int>& keys) {
  const auto less = [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; };
  std::vector<uint32_t> got(keys.size());
  std::iota(got.begin(), got.end(), 0U);
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

// Pieces for each thread, of which the first ones and the last have different lengths.
TEST(SortRunsThreadsTest, ThreadsChangeNothing) {
  std::mt19937 random(6);
  for (const size_t size : {size_t{1} << 16, (size_t{1} << 18) + 7, size_t{500'001}}) {
    std::vector<int> keys(size);
    std::generate(keys.begin(), keys.end(), [&] { return static_cast<int>(random() % 5000); });
    std::sort(keys.begin() + 10'000, keys.end() - 20'000);
    const auto less = [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; };
    std::vector<uint32_t> want(size);
    std::iota(want.begin(), want.end(), 0U);
    const std::vector<uint32_t> rows = want;
    std::stable_sort(want.begin(), want.end(), less);
    for (const int threads : {0, 1, 2, 3, 4, 7}) {
      std::vector<uint32_t> got = rows;
      SortRuns(std::span(got), less, threads);
      ASSERT_EQ(got, want) << size << " rows, " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace borescope::internal
