#include "borescope/analysis/core/grouper.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace borescope::internal {
namespace {

TEST(GrouperTest, NumbersTuplesInOrderOfAppearance) {
  Grouper groups(2);
  EXPECT_EQ(groups.Find(std::vector<int64_t>{5, -1}), 0u);
  EXPECT_EQ(groups.Find(std::vector<int64_t>{-1, 5}), 1u);
  EXPECT_EQ(groups.Find(std::vector<int64_t>{5, -1}), 0u);
  EXPECT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups.key(1)[0], -1);
}

TEST(GrouperTest, AgreesWithAMapWhileItGrows) {
  std::mt19937_64 random(1);
  Grouper groups(3);
  std::map<std::vector<int64_t>, uint32_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<int64_t> key(3);
    for (int64_t& member : key) {
      member = static_cast<int64_t>(random() % 20) << (random() % 50);
    }
    const auto next = static_cast<uint32_t>(expected.size());
    const uint32_t group = expected.emplace(key, next).first->second;
    ASSERT_EQ(groups.Find(key), group);
  }
  EXPECT_EQ(groups.size(), expected.size());
}

// Small numbers alone have places of their own, others are in the table.
TEST(GrouperTest, NumbersAloneAgreeWithAMap) {
  std::mt19937_64 random(2);
  Grouper groups(1);
  std::map<int64_t, uint32_t> expected;
  for (int i = 0; i < 50'000; ++i) {
    const int64_t number = static_cast<int64_t>(random() % 3'000) << (random() % 40);
    const std::vector<int64_t> key{random() % 8 == 0 ? -number : number};
    const auto next = static_cast<uint32_t>(expected.size());
    const uint32_t group = expected.emplace(key[0], next).first->second;
    ASSERT_EQ(groups.Find(key), group) << key[0];
    ASSERT_EQ(groups.key(group)[0], key[0]);
  }
  EXPECT_EQ(groups.size(), expected.size());
}

}  // namespace
}  // namespace borescope::internal
