#include "borescope/postmortem/memory/allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace borescope::internal::postmortem {
namespace {

// Rows of blocks with and without pages are looked at once, from their first block.
TEST(AllocatorTest, PagesAreTakenInTheLowestRowThatHoldsThem) {
  AllocatorSettings settings;
  settings.expandable = true;
  const std::vector<MemoryLane> lanes(1);
  Allocator allocator(settings, lanes);
  const uint64_t page = settings.large_segment;
  const uint64_t first = uint64_t{1} << 40;
  const uint64_t second = uint64_t{1} << 41;
  constexpr uint64_t kPages = 20'001;
  ASSERT_TRUE(allocator.AddRange(first, kPages * page, 0, false));
  ASSERT_TRUE(allocator.AddRange(second, 2 * kPages * page, 0, false));
  for (uint64_t i = 1; i < kPages; i += 2) {
    ASSERT_TRUE(allocator.MapAt(first + i * page, page));
  }
  EXPECT_EQ(allocator.PlanPages(kPages * page, 0), first);
  EXPECT_EQ(allocator.PlanPages((kPages + 1) * page, 0), second);
  EXPECT_EQ(allocator.PlanPages((2 * kPages + 1) * page, 0), std::nullopt);
  // A block in use ends a row: pages 0 to 4 are one, and another begins after it.
  const uint32_t used = allocator.TakeAt(first + 5 * page, page, page, 1, true);
  ASSERT_NE(used, kNoIndex);
  EXPECT_EQ(allocator.PlanPages(5 * page, 0), first);
  EXPECT_EQ(allocator.PlanPages(6 * page, 0), first + 6 * page);
  // The search from a block in use finds the same as one from the beginning.
  EXPECT_NE(allocator.TakeAt(first + 7 * page, page, page, 2, true, used), kNoIndex);
  EXPECT_EQ(allocator.TakeAt(first + 7 * page, page, page, 3, true, used), kNoIndex);
  EXPECT_NE(allocator.TakeAt(first + 3 * page, page, page, 4, true, used), kNoIndex);
}

}  // namespace
}  // namespace borescope::internal::postmortem
