// Fixes for programs that ran out of memory: each answer against the same program, run by the slow
// twin under the change.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "borescope/postmortem/memory/fixes.h"
#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/memory/replay.h"
#include "tests/oracle/allocator_programs.h"
#include "tests/oracle/allocator_twin.h"

namespace borescope::internal {
namespace {

using postmortem::Fits;
using testkit::RandomProgram;
using testkit::SlowAllocator;

// Runs the program up to the step `last` under other settings and bounds; the size of a request is
// what `size_of` says, 0 leaves it out. What is reserved then; nothing if a request fails.
std::optional<uint64_t> RunTwin(
    const RandomProgram& program, const postmortem::AllocatorSettings& settings,
    const postmortem::AllocatorBounds& bounds, size_t last,
    const std::function<uint64_t(const RandomProgram::Step&, size_t)>& size_of,
    uint32_t empties_before = 0) {
  SlowAllocator twin(settings, program.lanes, bounds);
  for (uint32_t i = 0; i <= last; ++i) {
    const RandomProgram::Step& step = program.steps[i];
    switch (step.kind) {
      case RandomProgram::kAllocate: {
        const uint64_t size = size_of(step, i);
        if (size == 0) break;
        if (empties_before != 0 && step.site == empties_before) twin.EmptyCache();
        if (!twin.Allocate(size, step.lane, i)) return std::nullopt;
        break;
      }
      case RandomProgram::kRequestFree:
        twin.RequestFree(step.of);
        break;
      case RandomProgram::kCompleteFree:
        twin.CompleteFree(step.of);
        break;
      case RandomProgram::kEmptyCache:
        twin.EmptyCache();
        break;
    }
  }
  return twin.Reserved();
}

uint64_t SameSize(const RandomProgram::Step& step, size_t /*i*/) { return step.size; }

// The step whose request fails; nothing if none does.
std::optional<size_t> FailingStep(const RandomProgram& program) {
  SlowAllocator twin(program.settings, program.lanes, program.bounds);
  for (uint32_t i = 0; i < program.steps.size(); ++i) {
    const RandomProgram::Step& step = program.steps[i];
    if (step.kind == RandomProgram::kAllocate && !twin.Allocate(step.size, step.lane, i)) return i;
    if (step.kind == RandomProgram::kRequestFree) twin.RequestFree(step.of);
    if (step.kind == RandomProgram::kCompleteFree) twin.CompleteFree(step.of);
    if (step.kind == RandomProgram::kEmptyCache) twin.EmptyCache();
  }
  return std::nullopt;
}

uint32_t NumberAfter(const std::string& text, const std::string& before) {
  const size_t at = text.find(before);
  return at == std::string::npos
             ? 0
             : static_cast<uint32_t>(std::stoul(text.substr(at + before.size())));
}

// What the change of one answer is, for the twin.
struct Change {
  postmortem::AllocatorSettings settings;
  postmortem::AllocatorBounds bounds;
  std::function<uint64_t(const RandomProgram::Step&, size_t)> size_of = SameSize;
  uint32_t empties_before = 0;
};

Change ReadChange(const postmortem::MemoryFix& fix, const RandomProgram& program, size_t failing) {
  Change change{program.settings, program.bounds, SameSize, 0};
  const uint32_t site = NumberAfter(fix.change, "train.py:");
  if (fix.setting == "expandable_segments:True") {
    change.settings.expandable = true;
  } else if (fix.setting.starts_with("max_split_size_mb:")) {
    change.settings.max_split = NumberAfter(fix.setting, ":") * postmortem::kMiB;
  } else if (fix.setting.starts_with("garbage_collection_threshold:")) {
    change.settings.gc_threshold = fix.setting.ends_with("0.6") ? 0.6 : 0.8;
  } else if (fix.change == "raise the limit") {
    change.bounds.limit = *program.bounds.limit + *fix.changed_bytes;
  } else if (fix.change.starts_with("torch.cuda.empty_cache()")) {
    change.empties_before = site;
  } else if (fix.change.starts_with("without ")) {
    const size_t second = fix.change.find(" and ");
    const uint32_t other =
        second == std::string::npos ? site : NumberAfter(fix.change.substr(second), "train.py:");
    change.size_of = [=](const RandomProgram::Step& step, size_t i) -> uint64_t {
      return i != failing && (step.site == site || step.site == other) ? 0 : step.size;
    };
  } else {
    EXPECT_TRUE(fix.change.starts_with("requests of ")) << fix.change;
    const uint64_t percent = NumberAfter(fix.change, " at ");
    const postmortem::AllocatorSettings settings = program.settings;
    change.size_of = [=](const RandomProgram::Step& step, size_t i) -> uint64_t {
      if (step.site != site) return step.size;
      // Of the request that failed the trace has the rounded size.
      const uint64_t size =
          i == failing ? postmortem::RoundRequest(step.size, settings) : step.size;
      return std::max<uint64_t>(size * percent / 100, 1);
    };
  }
  return change;
}

TEST(OomFixesTwin, EachAnswerIsWhatTheProgramDoes) {
  uint64_t programs = 0;
  uint64_t answers = 0;
  uint64_t fitting = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomProgram program = testkit::MakeRandomProgram(seed, 400, true);
    const std::optional<size_t> failing = FailingStep(program);
    if (!failing.has_value()) continue;
    const postmortem::MemorySnapshot snapshot = testkit::Record(program, true);
    const postmortem::DeviceMemory& device = snapshot.devices[0];
    const postmortem::Replay replay = postmortem::ReplayDevice(snapshot, device);
    ASSERT_EQ(replay.ooms.size(), 1U);
    std::optional<postmortem::ByteRange> limit;
    if (program.bounds.limit.has_value()) limit = {*program.bounds.limit, *program.bounds.limit};
    const postmortem::OomReport report = ExplainOom(replay.ooms[0], limit);
    ASSERT_EQ(report.allowed.has_value(), program.bounds.limit.has_value());
    const postmortem::MemorySites sites(snapshot);
    const postmortem::MemoryCategories categories = Categorise(device, replay, sites, {});
    const postmortem::MemoryFixes found = FindFixes(snapshot, device, replay, report, sites,
                                                    categories, {}, std::chrono::minutes(10));
    ASSERT_TRUE(found.is_reproduced);
    EXPECT_EQ(found.not_tried, 0U);
    ++programs;
    for (const postmortem::MemoryFix& fix : found.fixes) {
      if (fix.change.starts_with("a batch")) continue;
      SCOPED_TRACE(fix.change);
      const Change change = ReadChange(fix, program, *failing);
      const std::optional<uint64_t> truth = RunTwin(
          program, change.settings, change.bounds, *failing, change.size_of, change.empties_before);
      ASSERT_EQ(fix.fits, truth.has_value() ? Fits::kYes : Fits::kNo);
      if (truth.has_value()) {
        EXPECT_EQ(*fix.reserved_bytes, *truth);
      }
      ++answers;
      fitting += truth.has_value() ? 1 : 0;
      if (fix.change == "raise the limit") {
        // One byte less is not enough.
        postmortem::AllocatorBounds less = change.bounds;
        less.limit = *less.limit - 1;
        EXPECT_FALSE(RunTwin(program, program.settings, less, *failing, SameSize).has_value());
      }
    }
  }
  EXPECT_GT(programs, 60U);
  EXPECT_GT(answers, 800U);
  EXPECT_GT(fitting, 100U);
}

// A replay that is not finished in its time says nothing, and is no answer.
TEST(OomFixesTwin, ReplaysEndWhenTheirTimeIsOver) {
  uint64_t stopped = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomProgram program = testkit::MakeRandomProgram(seed, 1500, true);
    if (!FailingStep(program).has_value()) continue;
    const postmortem::MemorySnapshot snapshot = testkit::Record(program, true);
    const postmortem::DeviceMemory& device = snapshot.devices[0];
    const postmortem::Replay replay = postmortem::ReplayDevice(snapshot, device);
    const postmortem::OomReport report = ExplainOom(replay.ooms.back(), {});
    const postmortem::MemorySites sites(snapshot);
    const postmortem::MemoryCategories categories = Categorise(device, replay, sites, {});
    const postmortem::RequestStream stream =
        RequestsUntil(device, replay, report.state, sites, categories, {});
    const postmortem::MemoryChange change{.settings = snapshot.settings, .bounds = {}};
    EXPECT_FALSE(ReplayChange(stream, snapshot.lanes, change).is_stopped);
    const postmortem::ReplayedChange late =
        ReplayChange(stream, snapshot.lanes, change, std::chrono::steady_clock::now());
    EXPECT_EQ(late.is_stopped, stream.steps.size() >= 256);
    if (late.is_stopped) {
      EXPECT_FALSE(late.is_served);
      ++stopped;
    }
    const postmortem::MemoryFixes fixes =
        FindFixes(snapshot, device, replay, report, sites, categories, {}, std::chrono::seconds(0));
    EXPECT_TRUE(fixes.fixes.empty());
    EXPECT_GT(fixes.not_tried, 5U);
  }
  EXPECT_GT(stopped, 5U);
}

}  // namespace
}  // namespace borescope::internal
