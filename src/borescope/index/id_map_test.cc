#include "borescope/index/id_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace borescope::internal {
namespace {

TEST(IdMapTest, WhatWasNotInsertedIsNotFound) {
  IdMap64 map(3);
  EXPECT_EQ(map.Get(0), IdMap64::kNone);
  map[0] = 5;
  EXPECT_EQ(map.Get(0), 5U);
  EXPECT_EQ(map.Get(1), IdMap64::kNone);
  const IdMap64 empty(0);
  EXPECT_EQ(empty.Get(17), IdMap64::kNone);
}

TEST(IdMapTest, LikeAnOrdinaryMapForEveryPatternOfIds) {
  std::mt19937_64 random(4);
  // .rpd files offset ids by session x 2^32; MTIA numbers start at 10^9.
  const int64_t strides[] = {1, 2, 8, 1 << 16, int64_t{1} << 32, int64_t{1} << 48, -1, -4096};
  for (const int64_t stride : strides) {
    IdMap64 map(3000);
    std::map<int64_t, uint32_t> want;
    for (uint32_t i = 0; i < 3000; ++i) {
      const int64_t id = (random() % 2 == 0 ? i : static_cast<int64_t>(random() % 2000)) * stride;
      map[id] = i;
      want[id] = i;
    }
    for (int64_t i = -10; i < 3010; ++i) {
      const auto found = want.find(i * stride);
      ASSERT_EQ(map.Get(i * stride), found == want.end() ? IdMap64::kNone : found->second)
          << stride << " x " << i;
    }
  }
}

// Ids that are close together, a little apart, far apart, and some that are none.
TEST(IdMapTest, LikeAnOrdinaryMapForEveryDistanceOfIds) {
  std::mt19937_64 random(5);
  const auto is_id = [](int64_t id) { return id % 5 != 0; };
  for (const int64_t gap :
       {int64_t{1}, int64_t{7}, int64_t{63}, int64_t{64}, int64_t{200}, int64_t{1} << 40}) {
    std::vector<int64_t> ids(2000);
    int64_t id = -3 * gap;
    for (int64_t& one : ids) {
      id += static_cast<int64_t>(random() % static_cast<uint64_t>(2 * gap));
      one = id;
    }
    std::shuffle(ids.begin(), ids.end(), random);
    IdMap64 map(ids, is_id);
    std::map<int64_t, uint32_t> want;
    for (uint32_t row = 0; row < ids.size(); ++row) {
      if (is_id(ids[row]) && row % 3 != 0) {  // not all that may be inserted are
        map[ids[row]] = row;
        want[ids[row]] = row;
      }
    }
    for (const int64_t asked : ids) {
      for (const int64_t near : {asked - 1, asked, asked + 1, asked + 64}) {
        const auto found = want.find(near);
        ASSERT_EQ(map.Get(near), found == want.end() ? IdMap64::kNone : found->second)
            << gap << ": " << near;
      }
    }
    EXPECT_EQ(map.Get(std::numeric_limits<int64_t>::min()), IdMap64::kNone);
    EXPECT_EQ(map.Get(std::numeric_limits<int64_t>::max()), IdMap64::kNone);
  }
}

TEST(IdMapTest, OfNoIdsNoneIsFound) {
  const std::vector<int64_t> ids{1, 2};
  const IdMap64 none_accepted(ids, [](int64_t) { return false; });
  EXPECT_EQ(none_accepted.Get(1), IdMap64::kNone);
  const IdMap64 empty(std::span<const int64_t>(), [](int64_t) { return true; });
  EXPECT_EQ(empty.Get(1), IdMap64::kNone);
}

// Ids of several processes or merged files; colliding in the same slots, they took quadratic time.
TEST(IdMapTest, IdsAPowerOfTwoApartAreFoundQuickly) {
  constexpr uint32_t kBlocks = 200;
  constexpr uint32_t kInBlock = 2'000;
  for (const unsigned shift : {16U, 20U, 24U, 32U, 40U}) {
    IdMap64 map(size_t{kBlocks} * kInBlock);
    const auto id = [&](uint32_t block, uint32_t i) {
      return static_cast<int64_t>(uint64_t{block} << shift | (i + 1));
    };
    for (uint32_t row = 0; row < kBlocks * kInBlock; ++row) {
      map[id(row / kInBlock, row % kInBlock)] = row;
    }
    for (uint32_t row = 0; row < kBlocks * kInBlock; ++row) {
      ASSERT_EQ(map.Get(id(row / kInBlock, row % kInBlock)), row);
    }
  }
}

}  // namespace
}  // namespace borescope::internal
