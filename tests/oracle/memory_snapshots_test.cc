// Snapshots of an H100, recorded by us: the replay against PyTorch's own counters, and what the
// analysis reports of a training, a leak, and a request that failed.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/io/inflate.h"
#include "borescope/postmortem/memory/address_map.h"
#include "borescope/postmortem/memory/fixes.h"
#include "borescope/postmortem/memory/growth.h"
#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/memory/read_snapshot.h"
#include "borescope/postmortem/memory/replay.h"
#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

using postmortem::Fits;
using postmortem::MemoryCategory;

// PyTorch's message of that failure (oom.json beside the snapshot).
constexpr std::string_view kMessage =
    "CUDA out of memory. Tried to allocate 200.00 MiB. GPU 0 has a total capacity of 79.18 GiB of "
    "which 77.01 GiB is free. Including non-PyTorch memory, this process has 2.16 GiB memory in "
    "use. 1.58 GiB allowed; Of the allocated memory 1.07 GiB is allocated by PyTorch, and 372.93 "
    "MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
    "setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";
constexpr uint64_t kLimit = 1'700'349'870;

struct Studied {
  postmortem::MemorySnapshot snapshot;
  postmortem::Replay replay;
  std::vector<postmortem::MemoryStep> steps;
  std::optional<postmortem::MemorySites> sites;
  postmortem::MemoryCategories categories;

  const postmortem::DeviceMemory& device() const { return snapshot.devices[0]; }
};

class MemorySnapshots : public ::testing::Test {
 protected:
  // The snapshot of that name; nothing without the samples.
  static std::optional<Studied> Study(const std::string& name) {
    const std::filesystem::path path = testkit::SamplePath("h100/memory/" + name + ".pickle.gz");
    if (!std::filesystem::exists(path)) return std::nullopt;
    Result<OpenedSource> source = OpenInflated(path.string());
    EXPECT_TRUE(source.ok());
    Result<postmortem::SnapshotFile> file = postmortem::ReadSnapshot(*source->bytes);
    EXPECT_TRUE(file.ok());
    EXPECT_EQ(file->bad_fields, 0U);
    EXPECT_FALSE(file->is_cut);
    Studied studied;
    studied.snapshot = std::move(file->snapshot);
    EXPECT_EQ(studied.snapshot.devices.size(), 1U);
    studied.replay = ReplayDevice(studied.snapshot, studied.device());
    studied.steps = FindSteps(studied.snapshot, studied.device());
    studied.sites.emplace(studied.snapshot);
    studied.categories =
        Categorise(studied.device(), studied.replay, *studied.sites, studied.steps);
    return studied;
  }

  static std::map<MemoryCategory, uint64_t> Categories(const Studied& studied, uint32_t moment) {
    std::map<MemoryCategory, uint64_t> bytes;
    for (const postmortem::LiveMemory& live :
         LiveAt(studied.device(), studied.replay, *studied.sites, studied.categories, moment)) {
      bytes[live.category] += live.bytes;
    }
    return bytes;
  }
};

// Figures of the .json files beside the snapshots.
TEST_F(MemorySnapshots, ReplaysEqualPyTorchsCounters) {
  struct Expected {
    std::string name;
    uint64_t allocations, blocks, allocated, reserved, peak, inactive_split, retries, ooms;
  };
  const Expected expected[] = {
      {"train", 174, 45, 143728640, 195035136, 194109440, 30334976, 0, 0},
      {"leak", 354, 72, 202448896, 257949696, 252829696, 13557760, 0, 0},
      {"fragmented", 554, 269, 517021696, 908066816, 831594496, 391045120, 0, 0},
      {"oom", 557, 272, 517021696, 1537212416, 1146167296, 391045120, 1, 1}};
  for (const Expected& one : expected) {
    SCOPED_TRACE(one.name);
    const std::optional<Studied> studied = Study(one.name);
    if (!studied.has_value()) GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
    const postmortem::Replay& replay = studied->replay;
    ASSERT_EQ(replay.impossible, "");
    EXPECT_TRUE(replay.is_complete);
    EXPECT_EQ(replay.allocations, one.allocations);
    EXPECT_EQ(replay.predicted, one.allocations);
    EXPECT_EQ(replay.forced, 0U);
    EXPECT_EQ(replay.segments_predicted, replay.segments_given);
    EXPECT_TRUE(replay.segments_equal);
    EXPECT_EQ(studied->device().blocks.size(), one.blocks);
    EXPECT_EQ(replay.end.allocated, one.allocated);
    EXPECT_EQ(replay.end.reserved, one.reserved);
    EXPECT_EQ(replay.end.peak_allocated, one.peak);
    EXPECT_EQ(replay.inactive_split, one.inactive_split);
    EXPECT_EQ(replay.end.retries, one.retries);
    EXPECT_EQ(replay.end.ooms, one.ooms);
    // The map at the end is PyTorch's own list of segments and blocks.
    const postmortem::AddressMap map =
        MapAt(studied->snapshot, studied->device(), replay,
              static_cast<uint32_t>(studied->device().events.size()) - 1);
    ASSERT_EQ(map.segments.size(), studied->device().segments.size());
    ASSERT_EQ(map.blocks.size(), studied->device().blocks.size());
    for (size_t i = 0; i < map.blocks.size(); ++i) {
      EXPECT_EQ(map.blocks[i].address, studied->device().blocks[i].address);
      EXPECT_EQ(map.blocks[i].size, studied->device().blocks[i].size);
      EXPECT_EQ(map.blocks[i].state, studied->device().blocks[i].state);
    }
  }
}

TEST_F(MemorySnapshots, CategoriesAtThePeakOfATraining) {
  const std::optional<Studied> studied = Study("train");
  if (!studied.has_value()) GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  const std::map<MemoryCategory, uint64_t> expected = {
      {MemoryCategory::kParameter, 25190400},  // those of the model, see train.json
      {MemoryCategory::kGradient, 25190400},
      {MemoryCategory::kOptimizerState, 50380800},
      {MemoryCategory::kWorkspace, 68157440},
      {MemoryCategory::kTemporary, 25190400}};
  EXPECT_EQ(Categories(*studied, studied->replay.peak_event), expected);
  EXPECT_TRUE(FindGrowth(studied->device(), studied->replay, *studied->sites, studied->categories,
                         studied->steps)
                  .empty());
}

TEST_F(MemorySnapshots, WhatALeakKeeps) {
  const std::optional<Studied> studied = Study("leak");
  if (!studied.has_value()) GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  const std::vector<postmortem::MemoryGrowth> growth = FindGrowth(
      studied->device(), studied->replay, *studied->sites, studied->categories, studied->steps);
  ASSERT_EQ(growth.size(), 2U);
  EXPECT_EQ(growth[0].bytes_per_step, 12582912U);
  EXPECT_EQ(growth[1].bytes_per_step, 2097152U);
  EXPECT_EQ(growth[0].bytes + growth[1].bytes, 58720256U);
  for (const postmortem::MemoryGrowth& one : growth) {
    EXPECT_EQ(one.steps, 4U);
    EXPECT_EQ(one.first_step, 4U);
    EXPECT_FALSE(one.is_by_time);
    EXPECT_TRUE(studied->sites->Get(one.site).file.ends_with("memory_cases.py"));
    EXPECT_EQ(studied->sites->Get(one.site).line, 19);
  }
}

TEST_F(MemorySnapshots, WhyARequestFailed) {
  const std::optional<Studied> studied = Study("oom");
  if (!studied.has_value()) GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  ASSERT_EQ(studied->replay.ooms.size(), 1U);
  const postmortem::OomState& oom = studied->replay.ooms[0];
  EXPECT_EQ(oom.size, 209715200U);
  EXPECT_EQ(oom.device_free, 82692997120U);
  EXPECT_EQ(oom.reserved, 1537212416U);
  EXPECT_EQ(oom.allocated, 1146167296U);
  EXPECT_EQ(oom.parts.free(), 391045120U);
  EXPECT_EQ(oom.parts.free_blocks, 102U);
  EXPECT_EQ(oom.parts.largest_free, 11534336U);
  EXPECT_EQ(oom.parts.releasable, 0U);
  EXPECT_EQ(oom.parts.reserved(), oom.reserved);
  const std::vector<postmortem::OomCause> causes = {postmortem::OomCause::kProcessLimit,
                                                    postmortem::OomCause::kFragmentation};
  const postmortem::OomReport unknown = ExplainOom(oom, std::nullopt);
  EXPECT_EQ(unknown.causes, causes);
  EXPECT_LE(unknown.allowed->low, kLimit);
  EXPECT_GE(unknown.allowed->high, kLimit);
  const postmortem::OomReport told =
      ExplainOom(oom, std::nullopt, postmortem::ParseOomMessage(kMessage));
  EXPECT_EQ(told.causes, causes);
  EXPECT_LE(told.allowed->low, kLimit);
  EXPECT_GE(told.allowed->high, kLimit);
  EXPECT_LT(told.allowed->high - told.allowed->low, uint64_t{11} << 20);
}

TEST_F(MemorySnapshots, WhatWouldHaveHelped) {
  const std::optional<Studied> studied = Study("oom");
  if (!studied.has_value()) GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  const postmortem::OomReport report =
      ExplainOom(studied->replay.ooms[0], postmortem::ByteRange{kLimit, kLimit});
  const postmortem::MemoryFixes fixes =
      FindFixes(studied->snapshot, studied->device(), studied->replay, report, *studied->sites,
                studied->categories, studied->steps, std::chrono::minutes(5));
  EXPECT_TRUE(fixes.is_reproduced);
  EXPECT_EQ(fixes.not_tried, 0U);
  const auto find = [&](std::string_view begin) -> const postmortem::MemoryFix& {
    for (const postmortem::MemoryFix& fix : fixes.fixes) {
      if (fix.change.starts_with(begin) || fix.setting == begin) return fix;
    }
    ADD_FAILURE() << begin;
    return fixes.fixes[0];
  };
  // A setting comes first.
  EXPECT_EQ(fixes.fixes[0].setting, "expandable_segments:True");
  EXPECT_EQ(fixes.fixes[0].fits, Fits::kYes);
  EXPECT_EQ(fixes.fixes[0].reserved_bytes, 1679818752U);
  EXPECT_EQ(fixes.fixes[0].spare_bytes, kLimit - 1679818752U);
  EXPECT_EQ(find("raise the limit").changed_bytes, 46577746U);
  const std::string file = std::string("/home") + "/user/training/memory_cases.py";
  const postmortem::MemoryFix& without = find("without " + file + ":19");
  EXPECT_EQ(without.fits, Fits::kYes);
  EXPECT_EQ(without.changed_bytes, 58720256U);
  EXPECT_EQ(find("requests of " + file + ":26 <module> at 94 %").fits, Fits::kYes);
  for (const std::string_view setting :
       {"max_split_size_mb:32", "max_split_size_mb:256", "garbage_collection_threshold:0.8"}) {
    EXPECT_EQ(find(setting).fits, Fits::kNo) << setting;
  }
  // One byte less is not enough.
  const postmortem::RequestStream stream =
      RequestsUntil(studied->device(), studied->replay, report.state, *studied->sites,
                    studied->categories, studied->steps);
  postmortem::MemoryChange change{.settings = studied->snapshot.settings, .bounds = {}};
  change.bounds.limit = kLimit + 46577746;
  EXPECT_TRUE(ReplayChange(stream, studied->snapshot.lanes, change).is_served);
  change.bounds.limit = kLimit + 46577745;
  EXPECT_FALSE(ReplayChange(stream, studied->snapshot.lanes, change).is_served);
}

// A snapshot's own bytes cut anywhere: what was complete is read, and nothing crashes.
TEST_F(MemorySnapshots, CutFilesGiveWhatWasComplete) {
  const std::filesystem::path path = testkit::SamplePath("h100/memory/train.pickle.gz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  Result<OpenedSource> source = OpenInflated(path.string());
  ASSERT_TRUE(source.ok());
  std::string bytes(1 << 20, '\0');
  Result<size_t> size = ReadFully(*source->bytes, bytes.data(), bytes.size());
  ASSERT_TRUE(size.ok());
  bytes.resize(*size);
  size_t read = 0;
  for (size_t cut = 1000; cut < bytes.size(); cut += 7919) {
    const std::string part = bytes.substr(0, cut);
    Result<postmortem::SnapshotFile> file = postmortem::ReadSnapshot(*OpenMemory(part));
    if (!file.ok()) continue;
    ++read;
    EXPECT_TRUE(file->is_cut);
    for (const postmortem::DeviceMemory& device : file->snapshot.devices) {
      const postmortem::Replay replay = ReplayDevice(file->snapshot, device);
      EXPECT_LE(replay.predicted, replay.allocations);
    }
  }
  EXPECT_GT(read, 5U);
}

}  // namespace
}  // namespace borescope::internal
