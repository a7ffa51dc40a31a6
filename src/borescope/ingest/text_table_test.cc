#include "borescope/ingest/text_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

namespace borescope::internal {

namespace {

TEST(RowIdsTest, FindsTheFirstRowOfEveryId) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    RowIds ids;
    std::map<int64_t, uint32_t> expected;
    size_t repeated = 0;
    int64_t id = static_cast<int64_t>(random() % 5) << 32;
    for (uint32_t row = 0; row < 60; ++row) {
      id += random() % 8 == 0 ? static_cast<int64_t>(random() % 40) - 10 * (round % 2) : 1;
      ids.Add(id);
      repeated += expected.emplace(id, row).second ? 0 : 1;
    }
    EXPECT_EQ(ids.Finish(), repeated);
    for (int64_t probe = id - 100; probe < id + 100; ++probe) {
      const auto found = expected.find(probe);
      ASSERT_EQ(ids.Find(probe), found == expected.end() ? RowIds::kNone : found->second);
    }
    for (const auto& [known, row] : expected) {
      ASSERT_EQ(ids.Find(known), row);
    }
  }
}

TEST(RowIdsTest, TheEndsOfTheNumbersDoNotMeet) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  RowIds ids;
  ids.Add(kMost);
  ids.Add(kLeast);
  ids.Add(0);
  EXPECT_EQ(ids.Finish(), 0U);
  EXPECT_EQ(ids.Find(kMost), 0U);
  EXPECT_EQ(ids.Find(kLeast), 1U);
  EXPECT_EQ(ids.Find(0), 2U);
  EXPECT_EQ(ids.Find(1), RowIds::kNone);
  EXPECT_EQ(ids.Find(kMost - 1), RowIds::kNone);
}

}  // namespace

}  // namespace borescope::internal
