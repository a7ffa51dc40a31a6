#include "borescope/postmortem/memory/allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
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
  // Pages are used once.
  EXPECT_NE(allocator.TakeAt(first + 7 * page, page, page, 2, true), kNoIndex);
  EXPECT_EQ(allocator.TakeAt(first + 7 * page, page, page, 3, true), kNoIndex);
  EXPECT_NE(allocator.TakeAt(first + 3 * page, page, page, 4, true), kNoIndex);
}

// A walk along the blocks of the segment for each of them would take minutes.
TEST(AllocatorTest, ManyBlocksOfOneSegmentAreFoundAtOnce) {
  const std::vector<MemoryLane> lanes(1);
  Allocator allocator(AllocatorSettings{}, lanes);
  constexpr uint32_t kBlocks = 200'000;
  constexpr uint64_t kBlock = 2 * kMiB;
  const uint64_t begin = uint64_t{1} << 40;
  ASSERT_NE(allocator.AddSegment(begin, kBlocks * kBlock, 0, false), kNoIndex);
  std::vector<uint32_t> blocks(kBlocks);
  for (uint32_t i = 0; i < kBlocks; ++i) {
    const uint32_t at = uint32_t{i * 7919U} % kBlocks;  // every one, in no order
    blocks[at] = allocator.TakeAt(begin + at * kBlock, kBlock, kBlock, at, true);
    ASSERT_NE(blocks[at], kNoIndex);
    ASSERT_EQ(allocator.BlockAddress(blocks[at]), begin + at * kBlock);
  }
  EXPECT_EQ(allocator.counters().allocated, kBlocks * kBlock);
  EXPECT_EQ(allocator.TakeAt(begin + kBlock, kBlock, kBlock, 0, true), kNoIndex);
}

// The count of segments that a retry gives back is what a walk over all blocks finds.
TEST(AllocatorTest, ReleasableIsWhatTheLayoutSays) {
  for (const bool expandable : {false, true}) {
    AllocatorSettings settings;
    settings.expandable = expandable;
    std::vector<MemoryLane> lanes(3);
    lanes[1].stream = 7;
    lanes[2].pool_first = 1;  // private
    Allocator allocator(settings, lanes);
    std::mt19937 numbers(5);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in every run
    const auto random = [&] { return static_cast<uint32_t>(numbers()); };
    std::vector<std::pair<uint32_t, uint32_t>> live;
    for (uint32_t i = 0; i < 3'000; ++i) {
      const uint32_t dice = random() % 100;
      if (dice < 55 || live.empty()) {
        const uint64_t size = uint64_t{1} << (random() % 25);
        const uint32_t block = allocator.Allocate(size, static_cast<uint16_t>(random() % 3), i);
        ASSERT_NE(block, kNoIndex);
        live.emplace_back(block, i);
      } else if (dice < 98) {
        std::swap(live[random() % live.size()], live.back());
        allocator.RequestFree(live.back().first, live.back().second);
        allocator.CompleteFree(live.back().first, live.back().second);
        live.pop_back();
      } else {
        allocator.EmptyCache();
      }
      const std::vector<LayoutBlock> layout = allocator.Layout();
      const bool expected =
          std::any_of(layout.begin(), layout.end(), [&](const LayoutBlock& block) {
            return block.state == BlockState::kFree && block.is_whole && !block.is_expandable &&
                   !lanes[block.lane].is_private();
          });
      ASSERT_EQ(allocator.HasReleasable(), expected) << i;
      ASSERT_GE(allocator.blocks(), layout.size());
    }
  }
}

}  // namespace
}  // namespace borescope::internal::postmortem
