// What may not change an answer about memory: addresses, the clock, the numbers of streams, the
// order in which a snapshot lists its segments, other devices. On random programs, recorded by the
// slow twin, and on snapshots of an H100.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/io/inflate.h"
#include "borescope/postmortem/memory/address_map.h"
#include "borescope/postmortem/memory/fixes.h"
#include "borescope/postmortem/memory/growth.h"
#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/memory/read_snapshot.h"
#include "borescope/postmortem/memory/replay.h"
#include "tests/oracle/allocator_programs.h"
#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

using postmortem::DeviceMemory;
using postmortem::MemorySnapshot;

// Everything that is reported for a device, but addresses, times and numbers of streams.
class Said {
 public:
  Said(const MemorySnapshot& snapshot, const DeviceMemory& device, bool with_lines = true)
      : with_lines_(with_lines) {
    const postmortem::Replay replay = ReplayDevice(snapshot, device);
    text_ = std::string(replay.impossible) + '\n';
    Add({replay.allocations, replay.predicted, replay.forced, replay.left_out,
         replay.start_blocks.size(), replay.start_inferred, replay.segments_given, replay.released,
         replay.end.allocated, replay.end.active, replay.end.reserved, replay.end.requested,
         replay.end.peak_allocated, replay.end.peak_reserved, replay.end.retries, replay.end.ooms,
         replay.inactive_split, uint64_t{replay.segments_equal}, uint64_t{replay.peak_event}});
    if (!replay.impossible.empty() || device.events.empty()) return;
    const postmortem::MemorySites sites(snapshot);
    const std::vector<postmortem::MemoryStep> steps = FindSteps(snapshot, device);
    const postmortem::MemoryCategories categories = Categorise(device, replay, sites, steps);
    const auto last = static_cast<uint32_t>(device.events.size()) - 1;
    AddMoment(snapshot, device, replay, sites, categories, replay.peak_event);
    AddMoment(snapshot, device, replay, sites, categories, last);
    for (const postmortem::MemoryGrowth& one :
         FindGrowth(device, replay, sites, categories, steps)) {
      if (!with_lines) break;  // it is of lines
      AddSite(sites, one.site);
      Add({one.steps, one.first_step, one.bytes_per_step, one.blocks_per_step, one.bytes});
    }
    if (replay.ooms.empty()) return;
    const postmortem::OomReport report = ExplainOom(replay.ooms.back(), {});
    const postmortem::MemoryParts& parts = report.state.parts;
    Add({report.state.size, report.state.needed, report.state.reserved, parts.slack, parts.pending,
         parts.usable, parts.too_small, parts.other_pool, parts.other_stream, parts.private_pool,
         parts.releasable, parts.largest_free, parts.free_blocks});
    for (const postmortem::OomCause cause : report.causes) {
      text_ += std::string(Name(cause)) + '\n';
    }
    if (!with_lines) return;  // changes name them
    for (const postmortem::MemoryFix& fix : FindFixes(snapshot, device, replay, report, sites,
                                                      categories, steps, std::chrono::minutes(10))
                                                .fixes) {
      text_ += fix.change + fix.setting + std::string(Name(fix.fits));
      Add({fix.changed_bytes.value_or(0), fix.reserved_bytes.value_or(0),
           fix.spare_bytes.value_or(0), uint64_t{fix.is_certain}, uint64_t{fix.is_of_model}});
    }
  }
  const std::string& text() const { return text_; }

 private:
  void Add(const std::vector<uint64_t>& values) {
    for (const uint64_t value : values) text_ += std::to_string(value) + ' ';
    text_ += '\n';
  }
  void AddSite(const postmortem::MemorySites& sites, uint32_t site) {
    if (with_lines_) text_ += sites.Get(site).Text() + ' ';
  }

  void AddMoment(const MemorySnapshot& snapshot, const DeviceMemory& device,
                 const postmortem::Replay& replay, const postmortem::MemorySites& sites,
                 const postmortem::MemoryCategories& categories, uint32_t moment) {
    uint64_t live = 0;
    for (const postmortem::LiveMemory& one : LiveAt(device, replay, sites, categories, moment)) {
      live += one.bytes;
      if (!with_lines_) continue;
      AddSite(sites, one.site);
      Add({static_cast<uint64_t>(one.category), one.blocks, one.bytes});
    }
    Add({live});
    const postmortem::AddressMap map = MapAt(snapshot, device, replay, moment);
    for (const postmortem::MemorySegment& segment : map.segments) {
      Add({segment.size, segment.allocated, uint64_t{segment.is_small},
           uint64_t{segment.is_expandable}});
      for (uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
        Add({map.blocks[b].address - segment.address, map.blocks[b].size,
             static_cast<uint64_t>(map.blocks[b].state)});
      }
    }
  }

  std::string text_;
  bool with_lines_;
};

using Rewrite = std::function<void(MemorySnapshot&)>;

void ShiftAddresses(MemorySnapshot& snapshot, uint64_t by) {
  for (DeviceMemory& device : snapshot.devices) {
    for (postmortem::MemoryEvent& event : device.events) {
      const bool has_address = event.action != postmortem::MemoryAction::kOom &&
                               event.action != postmortem::MemoryAction::kSnapshot;
      event.address += has_address ? by : 0;
    }
    for (postmortem::MemorySegment& segment : device.segments) segment.address += by;
    for (postmortem::MemoryBlock& block : device.blocks) block.address += by;
  }
}

void ScaleTimes(MemorySnapshot& snapshot) {
  const auto scale = [](int64_t& time_us) {
    if (time_us != postmortem::kNoTime) time_us = time_us * 3 / 2 * 2 - 1'000'000;
  };
  for (DeviceMemory& device : snapshot.devices) {
    for (postmortem::MemoryEvent& event : device.events) scale(event.time_us);
    for (postmortem::MemoryAnnotation& annotation : device.annotations) scale(annotation.time_us);
  }
}

// Segments in another order, each with its blocks elsewhere, as a reader may find them.
void ShuffleSegments(MemorySnapshot& snapshot) {
  for (DeviceMemory& device : snapshot.devices) {
    std::reverse(device.segments.begin(), device.segments.end());
    std::vector<postmortem::MemoryBlock> blocks;
    for (postmortem::MemorySegment& segment : device.segments) {
      const auto first = device.blocks.begin() + segment.first_block;
      segment.first_block = static_cast<uint32_t>(blocks.size());
      blocks.insert(blocks.end(), first, first + segment.blocks);
    }
    device.blocks = std::move(blocks);
  }
  Finish(snapshot);
}

void ExpectSame(const MemorySnapshot& snapshot, const std::function<MemorySnapshot()>& again) {
  const std::pair<const char*, Rewrite> rewrites[] = {
      {"addresses", [](MemorySnapshot& changed) { ShiftAddresses(changed, uint64_t{5} << 30); }},
      {"high addresses",
       [](MemorySnapshot& changed) { ShiftAddresses(changed, (uint64_t{1} << 63) - 1024); }},
      {"times", ScaleTimes},
      {"streams",
       [](MemorySnapshot& changed) {
         for (postmortem::MemoryLane& lane : changed.lanes) lane.stream = lane.stream * 7 + 1;
       }},
      {"segments", ShuffleSegments},
      {"another device", [](MemorySnapshot& changed) {
         DeviceMemory& other = changed.Device(7);
         postmortem::MemoryEvent event;
         event.action = postmortem::MemoryAction::kSegmentAlloc;
         event.address = changed.devices[0].events.empty()
                             ? 0
                             : changed.devices[0].events[0].address;  // each has its own addresses
         event.size = 2 << 20;
         other.events.push_back(event);
       }}};
  const std::string expected = Said(snapshot, snapshot.devices[0]).text();
  for (const auto& [name, rewrite] : rewrites) {
    SCOPED_TRACE(name);
    MemorySnapshot changed = again();
    rewrite(changed);
    ASSERT_EQ(Said(changed, changed.devices[0]).text(), expected);
  }
  // Without stacks all amounts are the same.
  MemorySnapshot bare = again();
  for (postmortem::MemoryEvent& event : bare.devices[0].events) event.stack = 0;
  for (postmortem::MemoryBlock& block : bare.devices[0].blocks) block.stack = 0;
  const bool has_releases = ReplayDevice(snapshot, snapshot.devices[0]).released > 0;
  if (!has_releases) {  // stacks say which of them are retries
    ASSERT_EQ(Said(bare, bare.devices[0], false).text(),
              Said(snapshot, snapshot.devices[0], false).text());
  }
}

TEST(MemoryLaws, HoldForRandomPrograms) {
  uint64_t ooms = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const testkit::RandomProgram program = testkit::MakeRandomProgram(seed, 200, seed % 2 == 0);
    const bool stops = seed % 4 == 0;
    const MemorySnapshot snapshot = testkit::Record(program, stops);
    ooms += ReplayDevice(snapshot, snapshot.devices[0]).ooms.empty() ? 0 : 1;
    ASSERT_NO_FATAL_FAILURE(ExpectSame(snapshot, [&] { return testkit::Record(program, stops); }));
  }
  EXPECT_GT(ooms, 5U);
}

TEST(MemoryLaws, HoldForRecordings) {
  for (const std::string name : {"train", "leak", "fragmented", "oom"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path path = testkit::SamplePath("h100/memory/" + name + ".pickle.gz");
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
    const auto read = [&] {
      Result<OpenedSource> source = OpenInflated(path.string());
      Result<postmortem::SnapshotFile> file = postmortem::ReadSnapshot(*source->bytes);
      return std::move(file->snapshot);
    };
    ASSERT_NO_FATAL_FAILURE(ExpectSame(read(), read));
  }
}

// A recording whose end is missing, as of a file that was cut: its events are replayed alone, and
// give what the whole one gives up to there.
TEST(MemoryLaws, RecordingsWithoutTheirEndAreReplayedByTheirEvents) {
  uint64_t alone = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const testkit::RandomProgram program = testkit::MakeRandomProgram(seed, 200);
    const MemorySnapshot whole = testkit::Record(program);
    MemorySnapshot cut = testkit::Record(program);
    auto& events = cut.devices[0].events;
    const size_t kept = events.size() * 2 / 3;
    events = {events.begin(), events.begin() + static_cast<ptrdiff_t>(kept)};
    const postmortem::Replay replay = ReplayDevice(cut, cut.devices[0]);
    if (!replay.impossible.empty() || !replay.follows_events_alone || replay.forced > 0 ||
        replay.left_out > 0) {
      continue;
    }
    ++alone;
    EXPECT_FALSE(replay.is_exact());
    const postmortem::Replay of_whole = ReplayDevice(whole, whole.devices[0]);
    const auto last = static_cast<uint32_t>(kept) - 1;
    const postmortem::AddressMap there = MapAt(cut, cut.devices[0], replay, last);
    const postmortem::AddressMap expected = MapAt(whole, whole.devices[0], of_whole, last);
    ASSERT_EQ(there.blocks.size(), expected.blocks.size());
    for (size_t b = 0; b < there.blocks.size(); ++b) {
      ASSERT_EQ(there.blocks[b].address, expected.blocks[b].address);
      ASSERT_EQ(there.blocks[b].size, expected.blocks[b].size);
      ASSERT_EQ(there.blocks[b].state, expected.blocks[b].state);
    }
  }
  EXPECT_GT(alone, 20U);
}

}  // namespace
}  // namespace borescope::internal
