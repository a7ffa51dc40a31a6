#include "borescope/index/clocks/device_clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::TraceMaker;

// Work that begins or ends `ns` after the begin or end of its call; waits are those of the
// profiler.
struct Pairs {
  std::vector<int64_t> launches;
  std::vector<int64_t> waits;
  std::vector<int64_t> inferred;
};

constexpr int64_t kCallEnd = 10'000'000;

DeviceClock ClockOf(const Pairs& pairs) {
  TraceMaker maker;
  const size_t size = pairs.launches.size() + pairs.waits.size() + pairs.inferred.size();
  maker.Call("call", 1, {0, kCallEnd}, 1);
  const auto add = [&](int64_t begin_ns, int64_t end_ns) {
    maker.Kernel("kernel", 7, {begin_ns, end_ns - begin_ns}, {});
  };
  for (const int64_t ns : pairs.launches) {
    add(ns, ns + 1);
  }
  for (const auto* waits : {&pairs.waits, &pairs.inferred}) {
    for (const int64_t ns : *waits) {
      add(kCallEnd + ns - 1, kCallEnd + ns);
    }
  }
  const Trace trace = maker.Finish();
  Correlation correlation;
  correlation.launch_of.assign(size, {});
  std::vector<WaitPair> waits;
  // The rows of a track are in the order of time, and launches come first.
  for (uint32_t row = 0; row < size; ++row) {
    const int64_t end_ns = trace.device().end_ns({row});
    if (end_ns < kCallEnd / 2) {
      correlation.launch_of[row] = HostId{0};
    } else {
      const auto& recorded = pairs.waits;
      const bool is_recorded =
          std::find(recorded.begin(), recorded.end(), end_ns - kCallEnd) != recorded.end();
      waits.push_back({DeviceId{row}, HostId{0}, !is_recorded});
    }
  }
  return EstimateClocks(trace, correlation, waits).clocks.at(0);
}

TEST(DeviceClocksTest, ClocksThatAgreeStayAsTheyAre) {
  const DeviceClock clock = ClockOf({{5'000, 7'000}, {-9'000, -20'000}, {}});
  EXPECT_EQ(clock, (DeviceClock{0, 0, -5'000, 9'000, 2, 2, 0, 0}));
}

TEST(DeviceClocksTest, WorkThatBeginsBeforeItsLaunchIsLater) {
  EXPECT_EQ(ClockOf({{-100'000, -90'000}, {-130'000}, {}}).skew_ns, 100'000);
}

TEST(DeviceClocksTest, WorkThatEndsAfterItsWaitIsEarlier) {
  EXPECT_EQ(ClockOf({{105'000}, {100'000, 20'000}, {}}).skew_ns, -100'000);
}

TEST(DeviceClocksTest, NothingIsKnownWithoutPairs) {
  TraceMaker maker;
  maker.Kernel("kernel", 7, {0, 10}, {});
  const Trace trace = maker.Finish();
  Correlation correlation;
  correlation.launch_of.assign(1, {});
  EXPECT_TRUE(EstimateClocks(trace, correlation, {}).clocks.empty());
}

// The wait wants -8, the launches allow -5: what contradicts least is where most launches are
// right.
TEST(DeviceClocksTest, OneOddWaitMovesTheClockNoFurtherThanTheLaunchesAllow) {
  const DeviceClock clock = ClockOf({{5'000, 5'200, 6'000}, {8'000, -20'000}, {}});
  EXPECT_EQ(clock, (DeviceClock{0, -5'000, -5'000, -8'000, 3, 2, 0, 1}));
}

TEST(DeviceClocksTest, OneOddLaunchMovesTheClockNoFurtherThanTheWaitsAllow) {
  EXPECT_EQ(ClockOf({{-600'000, 5'000, 6'000}, {-20'000, -30'000}, {}}).skew_ns, 20'000);
}

TEST(DeviceClocksTest, WhatIsNoMatterOfClocksDoesNotCount) {
  const DeviceClock clock = ClockOf({{2'000'000, -1'100'000}, {3'000'000}, {}});
  EXPECT_EQ(clock.skew_ns, 0);
  EXPECT_EQ(clock.contradicting, 2);
}

TEST(DeviceClocksTest, AnInferredWaitCountsAsFarAsRecordsAllowIt) {
  EXPECT_EQ(ClockOf({{5'000}, {}, {3'000}}).skew_ns, -3'000);
  const DeviceClock refused = ClockOf({{5'000}, {}, {8'000}});
  EXPECT_EQ(refused, (DeviceClock{0, 0, -5'000, kMissing, 1, 0, 1, 1}));
}

}  // namespace
}  // namespace borescope::internal
