// The allocator's model against its slow twin (allocator_twin.h) on random programs, and the
// replay of what such programs record.
#include "tests/oracle/allocator_twin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "borescope/postmortem/memory/address_map.h"
#include "borescope/postmortem/memory/allocator.h"
#include "borescope/postmortem/memory/replay.h"
#include "tests/oracle/allocator_programs.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using postmortem::Allocator;
using postmortem::BlockState;
using postmortem::LayoutBlock;
using testkit::RandomProgram;
using testkit::SlowAllocator;

std::string Text(const std::vector<LayoutBlock>& layout) {
  std::string text;
  for (const LayoutBlock& block : layout) {
    for (const uint64_t value :
         {block.segment, block.address, block.size, block.requested, uint64_t{block.lane},
          uint64_t{block.is_small}, uint64_t{block.is_expandable}, uint64_t{block.is_whole},
          static_cast<uint64_t>(block.state), uint64_t{block.owner}}) {
      text += std::to_string(value) + ' ';
    }
    text += '\n';
  }
  return text;
}

// Blocks follow each other without a gap, no two free neighbours are apart, and the counters are
// sums over blocks.
void ExpectInvariants(const Allocator& allocator) {
  const std::vector<LayoutBlock> layout = allocator.Layout();
  uint64_t allocated = 0;
  uint64_t pending = 0;
  uint64_t free = 0;
  for (size_t i = 0; i < layout.size(); ++i) {
    const LayoutBlock& block = layout[i];
    allocated += block.state == BlockState::kAllocated ? block.size : 0;
    pending += block.state == BlockState::kPending ? block.size : 0;
    free += block.state == BlockState::kFree ? block.size : 0;
    if (i == 0 || layout[i - 1].segment != block.segment) {
      ASSERT_EQ(block.address, block.segment);
      continue;
    }
    const LayoutBlock& before = layout[i - 1];
    ASSERT_EQ(block.address, before.address + before.size);
    const bool is_open = block.state == BlockState::kFree || block.state == BlockState::kUnmapped;
    ASSERT_FALSE(is_open && before.state == block.state) << "neighbours that are not joined";
  }
  ASSERT_EQ(allocator.counters().allocated, allocated);
  ASSERT_EQ(allocator.counters().active, allocated + pending);
  ASSERT_EQ(allocator.counters().reserved, allocated + pending + free);
}

TEST(AllocatorTwin, RandomProgramsLieEqual) {
  uint64_t retries = 0;
  uint64_t ooms = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomProgram program = testkit::MakeRandomProgram(seed, 400);
    SlowAllocator twin(program.settings, program.lanes, program.bounds);
    Allocator model(program.settings, program.lanes, program.bounds);
    std::vector<uint32_t> blocks(program.steps.size(), postmortem::kNoIndex);
    for (uint32_t i = 0; i < program.steps.size(); ++i) {
      const RandomProgram::Step& step = program.steps[i];
      switch (step.kind) {
        case RandomProgram::kAllocate:
          blocks[i] = model.Allocate(step.size, step.lane, i);
          ASSERT_EQ(twin.Allocate(step.size, step.lane, i), blocks[i] != postmortem::kNoIndex);
          break;
        case RandomProgram::kRequestFree:
          if (blocks[step.of] == postmortem::kNoIndex) break;
          twin.RequestFree(step.of);
          model.RequestFree(blocks[step.of], step.of);
          break;
        case RandomProgram::kCompleteFree:
          if (blocks[step.of] == postmortem::kNoIndex) break;
          twin.CompleteFree(step.of);
          model.CompleteFree(blocks[step.of], step.of);
          break;
        case RandomProgram::kEmptyCache:
          twin.EmptyCache();
          model.EmptyCache();
          break;
      }
      ASSERT_EQ(model.counters().reserved, twin.Reserved()) << "step " << i;
      if (i % 16 == 0 || i + 1 == program.steps.size()) {
        ASSERT_EQ(Text(model.Layout()), Text(twin.Layout())) << "step " << i;
        ASSERT_NO_FATAL_FAILURE(ExpectInvariants(model)) << "step " << i;
      }
    }
    EXPECT_EQ(model.counters().allocated, twin.Allocated());
    EXPECT_EQ(model.counters().active, twin.Active());
    EXPECT_EQ(model.counters().requested, twin.Requested());
    EXPECT_EQ(model.counters().retries, twin.retries);
    EXPECT_EQ(model.counters().ooms, twin.ooms);
    retries += twin.retries;
    ooms += twin.ooms;
  }
  // The programs come where the rules differ.
  EXPECT_GT(retries, 200U);
  EXPECT_GT(ooms, 50U);
}

// The block that holds an address, by a walk over all of them; nothing if it is in use.
const LayoutBlock* OpenBlockAt(const std::vector<LayoutBlock>& layout, uint64_t address) {
  for (const LayoutBlock& block : layout) {
    const bool is_open = block.state == BlockState::kFree || block.state == BlockState::kUnmapped;
    if (is_open && address >= block.address && address - block.address < block.size) return &block;
  }
  return nullptr;
}

// Segments, pages and blocks at addresses of anybody's choice: what is there is what a walk over
// all blocks finds, whenever the first address is looked for.
TEST(AllocatorTwin, AddressesAreFoundAsByAWalk) {
  uint64_t done[4] = {};
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testkit::Random random(seed + 77);
    postmortem::AllocatorSettings settings;
    settings.expandable = random.Chance(0.5);
    const std::vector<postmortem::MemoryLane> lanes(2);
    Allocator allocator(settings, lanes);
    constexpr uint64_t kPage = 2 << 20;
    constexpr uint64_t kStep = 256 << 10;
    const uint64_t base = uint64_t{1} << 40;
    ASSERT_TRUE(allocator.AddRange(base, 40 * kPage, 0, true));
    ASSERT_NE(allocator.AddSegment(base + 40 * kPage, 20 * kPage, 1, false), postmortem::kNoIndex);
    std::vector<std::pair<uint32_t, uint32_t>> live;
    for (uint32_t i = 0; i < 400; ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      const std::vector<LayoutBlock> before = allocator.Layout();
      const uint64_t address = random.Chance(0.5) ? before[random.Below(before.size())].address
                                                  : base + random.Below(62 * kPage / kStep) * kStep;
      const LayoutBlock* const found = OpenBlockAt(before, address);
      const uint64_t left = found == nullptr ? 0 : found->address + found->size - address;
      const uint64_t size = kStep * (1 + random.Below(8));
      const uint64_t page = base + (address - base) / kPage * kPage;
      const LayoutBlock* const at_page = OpenBlockAt(before, page);
      const bool has_page = at_page != nullptr && at_page->address + at_page->size - page >= kPage;
      switch (random.Below(5)) {
        case 0: {
          const bool is_fit = has_page && at_page->state == BlockState::kUnmapped;
          ASSERT_EQ(allocator.MapAt(page, kPage), is_fit);
          done[0] += is_fit ? 1 : 0;
          break;
        }
        case 1: {
          const bool is_fit =
              has_page && at_page->state == BlockState::kFree && at_page->is_expandable;
          ASSERT_EQ(allocator.UnmapAt(page, kPage), is_fit);
          done[1] += is_fit ? 1 : 0;
          break;
        }
        case 2: {
          const bool is_fit = left >= size && found->state == BlockState::kFree;
          const uint32_t block = allocator.TakeAt(address, size, size, i, true);
          ASSERT_EQ(block != postmortem::kNoIndex, is_fit);
          if (!is_fit) break;
          ASSERT_EQ(allocator.BlockAddress(block), address);
          ASSERT_EQ(allocator.BlockSize(block), size);
          live.emplace_back(block, i);
          ++done[2];
          break;
        }
        case 3: {
          const bool is_fit =
              left >= size && found->state == BlockState::kFree && found->address == address;
          const uint32_t block = allocator.FreeBlockAt(address, size);
          ASSERT_EQ(block != postmortem::kNoIndex, is_fit);
          ASSERT_TRUE(!is_fit || allocator.BlockAddress(block) == address);
          done[3] += is_fit ? 1 : 0;
          break;
        }
        default:
          if (live.empty()) break;
          std::swap(live[random.Below(live.size())], live.back());
          allocator.RequestFree(live.back().first, live.back().second);
          allocator.CompleteFree(live.back().first, live.back().second);
          live.pop_back();
          break;
      }
      ASSERT_NO_FATAL_FAILURE(ExpectInvariants(allocator));
    }
  }
  for (const uint64_t count : done) EXPECT_GT(count, 300U);
}

// What a program records is replayed without one forced decision, whatever its settings.
TEST(AllocatorTwin, RecordedProgramsReplay) {
  uint64_t allocations = 0;
  uint64_t released = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const postmortem::MemorySnapshot snapshot =
        testkit::Record(testkit::MakeRandomProgram(seed, 300));
    for (const postmortem::DeviceMemory& device : snapshot.devices) {
      const postmortem::Replay replay = postmortem::ReplayDevice(snapshot, device);
      ASSERT_EQ(replay.impossible, "");
      EXPECT_TRUE(replay.is_complete);
      EXPECT_EQ(replay.forced, 0U);
      EXPECT_EQ(replay.predicted, replay.allocations);
      EXPECT_EQ(replay.released, replay.released_predicted);
      EXPECT_TRUE(replay.segments_equal);
      EXPECT_EQ(replay.reserved_difference, 0);
      EXPECT_EQ(replay.allocated_difference, 0);
      for (const postmortem::OomState& oom : replay.ooms) {
        EXPECT_EQ(oom.parts.reserved(), oom.reserved);
      }
      allocations += replay.allocations;
      released += replay.released;
    }
  }
  EXPECT_GT(allocations, 10000U);
  EXPECT_GT(released, 1000U);
}

std::string Text(const std::vector<postmortem::MemorySegment>& segments,
                 const std::vector<postmortem::MemoryBlock>& blocks) {
  std::string text;
  const auto add = [&](std::initializer_list<uint64_t> values) {
    for (const uint64_t value : values) text += std::to_string(value) + ' ';
    text += '\n';
  };
  for (const postmortem::MemorySegment& segment : segments) {
    add({segment.address, segment.size, segment.allocated, segment.blocks, segment.lane,
         uint64_t{segment.is_small}, uint64_t{segment.is_expandable}});
    for (uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
      const postmortem::MemoryBlock& block = blocks[b];
      const bool is_free = block.state == postmortem::MemoryBlockState::kFree;
      add({block.address, block.size, is_free ? 0 : block.requested,
           static_cast<uint64_t>(block.state)});
    }
  }
  return text;
}

// The map of addresses after any event is what the twin has then, also where the trace begins late;
// its parts for a request are those that the allocator's blocks give.
TEST(AllocatorTwin, MapsAreWhatTheTwinHas) {
  for (uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomProgram program = testkit::MakeRandomProgram(seed, 240);
    const postmortem::MemorySnapshot whole = testkit::Record(program);
    const postmortem::DeviceMemory& device = whole.devices[0];
    const postmortem::Replay replay = postmortem::ReplayDevice(whole, device);
    ASSERT_EQ(replay.impossible, "");
    for (size_t steps : {40, 130, 239, 240}) {
      SCOPED_TRACE("steps " + std::to_string(steps));
      RandomProgram part = program;
      part.steps.resize(std::min(steps, part.steps.size()));
      const postmortem::MemorySnapshot until = testkit::Record(part);
      const size_t events = until.devices.empty() ? 0 : until.devices[0].events.size();
      if (events == 0) continue;
      const postmortem::AddressMap map =
          postmortem::MapAt(whole, device, replay, static_cast<uint32_t>(events) - 1);
      ASSERT_EQ(Text(map.segments, map.blocks),
                Text(until.devices[0].segments, until.devices[0].blocks));
      for (size_t b = 0; b < map.blocks.size(); ++b) {
        ASSERT_EQ(map.owners[b] == postmortem::kNoIndex,
                  map.blocks[b].state == postmortem::MemoryBlockState::kFree);
      }
    }
    for (const postmortem::OomState& oom : replay.ooms) {
      const postmortem::AddressMap map = postmortem::MapAt(whole, device, replay, oom.event);
      postmortem::MemoryParts parts;
      for (const postmortem::MemorySegment& segment : map.segments) {
        for (uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
          const postmortem::MemoryBlock& block = map.blocks[b];
          if (block.state != postmortem::MemoryBlockState::kFree) continue;
          LayoutBlock layout;
          layout.size = block.size;
          layout.lane = segment.lane;
          layout.is_small = segment.is_small;
          layout.is_expandable = segment.is_expandable;
          ++parts.free_blocks;
          const postmortem::FreeUse use =
              UseOf(layout, whole.settings, whole.lanes, oom.size, oom.lane);
          (use == postmortem::FreeUse::kUsable ? parts.usable : parts.too_small) += block.size;
        }
      }
      ASSERT_EQ(parts.free_blocks, oom.parts.free_blocks);
      ASSERT_EQ(parts.usable, oom.parts.usable);
      ASSERT_EQ(parts.free(), oom.parts.free());
    }
    // Begun late.
    postmortem::MemorySnapshot late = testkit::Record(program);
    auto& events = late.devices[0].events;
    const size_t skipped = events.size() / 3;
    events = {events.begin() + skipped, events.end()};
    const postmortem::Replay again = postmortem::ReplayDevice(late, late.devices[0]);
    ASSERT_EQ(again.impossible, "");
    if (!again.segments_equal) continue;
    const postmortem::AddressMap end =
        postmortem::MapAt(late, late.devices[0], again, static_cast<uint32_t>(events.size()) - 1);
    ASSERT_EQ(Text(end.segments, end.blocks),
              Text(late.devices[0].segments, late.devices[0].blocks));
  }
}

// Pieces of a map: each byte once, at most so many, and where all fit, blocks as they are.
TEST(AllocatorTwin, PiecesAddUp) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const postmortem::MemorySnapshot snapshot =
        testkit::Record(testkit::MakeRandomProgram(seed, 240));
    const postmortem::DeviceMemory& device = snapshot.devices[0];
    const postmortem::Replay replay = postmortem::ReplayDevice(snapshot, device);
    postmortem::MemoryCategories categories;
    categories.events.resize(device.events.size(), postmortem::MemoryCategory::kHeld);
    const postmortem::AddressMap map = postmortem::MapAt(
        snapshot, device, replay, static_cast<uint32_t>(device.events.size()) - 1);
    for (const size_t most : {size_t{1}, size_t{3}, size_t{10}, size_t{1000}}) {
      uint64_t held = 0;
      uint64_t free = 0;
      uint64_t blocks = 0;
      uint64_t total = 0;
      uint64_t next = 0;
      const std::vector<postmortem::MapPiece> pieces = PiecesOf(map, categories, most);
      ASSERT_LE(pieces.size(), most);
      for (const postmortem::MapPiece& piece : pieces) {
        ASSERT_GE(piece.address, next);
        next = piece.address + 1;
        held += piece.bytes[static_cast<size_t>(postmortem::MemoryCategory::kHeld)];
        free += piece.bytes[postmortem::MapPiece::kFree];
        blocks += piece.blocks;
        total += piece.total();
        ASSERT_TRUE(most < 1000 || piece.bytes[piece.kind()] == piece.total());
      }
      ASSERT_EQ(held, replay.end.allocated);
      ASSERT_EQ(total, replay.end.reserved);
      ASSERT_EQ(free, replay.end.reserved - replay.end.active);
      ASSERT_EQ(blocks, map.blocks.size());
    }
  }
}

// A trace that begins in the middle gives the same layout at its end, and decisions are forced only
// where the size of a block had to be inferred.
TEST(AllocatorTwin, TracesThatBeginLateReplay) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const RandomProgram program = testkit::MakeRandomProgram(seed, 300);
    for (size_t cut = 1; cut <= 10; ++cut) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", cut " + std::to_string(cut));
      postmortem::MemorySnapshot snapshot = testkit::Record(program);
      for (postmortem::DeviceMemory& device : snapshot.devices) {
        auto& events = device.events;
        const size_t first = events.size() * cut / 11;
        events = {events.begin() + first, events.end()};
        if (events.empty()) continue;
        const postmortem::Replay replay = postmortem::ReplayDevice(snapshot, device);
        ASSERT_EQ(replay.impossible, "");
        EXPECT_TRUE(replay.segments_equal || replay.start_inferred > 0);
        EXPECT_EQ(replay.allocated_difference == 0 || replay.start_inferred > 0, true);
        EXPECT_TRUE(replay.forced == 0 || replay.start_inferred > 0);
      }
    }
  }
}

// Whatever is in a trace, its replay ends; where it goes on, blocks still add up.
TEST(AllocatorTwin, DamagedTracesEnd) {
  uint64_t impossible = 0;
  uint64_t replayed = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    postmortem::MemorySnapshot snapshot =
        testkit::Record(testkit::MakeRandomProgram(seed % 50, 200));
    testkit::Random random(seed);
    postmortem::DeviceMemory& device = snapshot.devices[0];
    const uint64_t damages = 1 + random.Below(6);
    for (uint64_t i = 0; i < damages; ++i) {
      postmortem::MemoryEvent& event = device.events[random.Below(device.events.size())];
      switch (random.Below(5)) {
        case 0:
          event.size = random.Chance(0.5) ? random.Below(1 << 30) : UINT64_MAX - random.Below(4096);
          break;
        case 1:
          event.address += 512 * random.Below(1 << 20);
          break;
        case 2:
          event.action = static_cast<postmortem::MemoryAction>(random.Below(10));
          break;
        case 3:
          event.address = device.events[random.Below(device.events.size())].address;
          break;
        default:
          event.lane = static_cast<uint16_t>(random.Below(snapshot.lanes.size()));
          break;
      }
    }
    const postmortem::Replay replay = postmortem::ReplayDevice(snapshot, device);
    EXPECT_LE(replay.predicted + replay.forced, replay.allocations);
    if (!replay.impossible.empty()) {
      ++impossible;
      continue;
    }
    ++replayed;
    for (const postmortem::OomState& oom : replay.ooms) {
      EXPECT_EQ(oom.parts.reserved(), oom.reserved);
    }
  }
  EXPECT_GT(impossible, 20U);
  EXPECT_GT(replayed, 20U);
}

}  // namespace
}  // namespace borescope::internal
