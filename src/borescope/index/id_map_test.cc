#include "borescope/index/id_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace borescope {
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
  // .rpd files offset ids by session x 2^32; MTIA numbers start at a thousand millions.
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

}  // namespace
}  // namespace borescope
