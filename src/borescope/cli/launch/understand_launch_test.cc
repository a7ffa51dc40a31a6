#include "borescope/cli/launch/understand_launch.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope::cli {

namespace {

std::vector<FileSize> Files(size_t count, uint64_t bytes, const std::string& path = "r.json") {
  return std::vector<FileSize>(count, {path, bytes});
}

constexpr uint64_t kGigabyte = 1'000'000'000;

TEST(ShardCount, CompressedFilesAreMoreWork) {
  EXPECT_DOUBLE_EQ(EstimateSeconds(Files(2, kGigabyte)), 5.8);
  EXPECT_DOUBLE_EQ(EstimateSeconds(Files(2, kGigabyte, "r.json.gz")), 87);
  EXPECT_DOUBLE_EQ(EstimateSeconds(Files(2, kGigabyte, "r.json.zst")), 87);
}

TEST(ShardCount, LargeFilesHaveAShardEachAndNodesFour) {
  EXPECT_EQ(DefaultShards(Files(8, 100 * kGigabyte), 16), 8);
  EXPECT_EQ(DefaultShards(Files(4096, 100 * kGigabyte), 16), 64);
  EXPECT_EQ(DefaultShards(Files(4096, 100 * kGigabyte), 10'000), 4096);
}

TEST(ShardCount, EachHasTenSecondsOfWork) {
  EXPECT_EQ(DefaultShards(Files(4096, 200'000'000), 100), 237);  // of 2,375 s
  EXPECT_EQ(DefaultShards(Files(64, kGigabyte / 10), 16), 1);    // 18.6 s
}

TEST(ShardCount, ThereIsAlwaysOne) {
  EXPECT_EQ(DefaultShards({}, 16), 1);
  EXPECT_EQ(DefaultShards(Files(1, 0), 16), 1);
}

}  // namespace

}  // namespace borescope::cli
