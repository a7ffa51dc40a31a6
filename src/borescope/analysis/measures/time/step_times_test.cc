#include "borescope/analysis/measures/time/step_times.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "borescope/index/launches/inherited_work.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// The begins of inherited work, which identify it.
std::set<int64_t> InheritedIn(TestTrace& trace) {
  const RankView& view = trace.View();
  std::set<int64_t> begins;
  for (const DeviceId id : FindInheritedWork(view.trace, view.index.correlation).Rows()) {
    begins.insert(view.trace.device().ts_ns[id.value]);
  }
  return begins;
}

TEST(StepTimesTest, WhatComesFirstAndHasASmallerNumberThanAnyCall) {
  TestTrace trace;
  trace.Kernel("a", {10, 5}, {100, 7, 0}).Kernel("b", {20, 5}, {300, 7, 0});  // 300: lost
  trace.Launched("c", {15, 2}, {30, 5}, {200, 7, 0});
  trace.Kernel("d", {40, 5}, {101, 7, 0});                                  // after c: lost
  trace.Kernel("e", {12, 5}, {102, 9, 0}).Sync("s", {11, 1}, {103, 9, 0});  // a stream of its own
  EXPECT_EQ(InheritedIn(trace), (std::set<int64_t>{10, 12}));
}

TEST(StepTimesTest, WithoutNumbersThePlaceDecides) {
  TestTrace trace;
  trace.Kernel("a", {10, 5}, {kMissing, 7, 0});
  trace.Launched("c", {15, 2}, {30, 5}, {200, 7, 0});
  trace.Kernel("e", {12, 5}, {kMissing, 9, 0}).Kernel("f", {18, 5}, {kMissing, 9, 0});
  EXPECT_EQ(InheritedIn(trace), (std::set<int64_t>{10, 12}));
}

TEST(StepTimesTest, NothingWhereNoLaunchWasRecorded) {
  TestTrace trace;
  trace.Kernel("a", {10, 5}, {1, 7, 0}).Kernel("b", {20, 5}, {2, 7, 0}).Op("aten::mm", {0, 5});
  EXPECT_TRUE(InheritedIn(trace).empty());
}

// Steps of a device that takes longer than the host, begun with some work of earlier ones; launches
// are lost here and there. A step is as long as its work, whatever the windows are.
TEST(StepTimesTest, StepsAreAsLongAsTheirWork) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int from, int to) {
      return std::uniform_int_distribution<int64_t>(from, to)(random);
    };
    TestTrace trace;
    std::set<int64_t> inherited;
    int64_t number = draw(1, 1000);
    int64_t device_ns = 0;
    for (int64_t i = draw(0, 5); i > 0; --i) {
      const int64_t dur_ns = draw(1, 200);
      inherited.insert(device_ns);
      trace.Kernel("before", {device_ns, dur_ns}, {number++, 7, 0});
      device_ns += dur_ns;
    }
    std::vector<int64_t> lengths;
    int64_t host_ns = 5;
    int64_t done_ns = device_ns;
    for (int step = 0; step < 5; ++step) {
      const int64_t begin_ns = host_ns;
      for (int64_t i = draw(1, 4); i > 0; --i) {
        const int64_t dur_ns = draw(1, 200);
        device_ns = std::max(device_ns, host_ns + 3);
        const On on{number++, 7, 0};
        // The first of a stream is what shows where inherited work ends; the last, when a step
        // does.
        if (lengths.empty() || i == 1 || draw(0, 3) > 0) {
          trace.Launched("work", {host_ns, 2}, {device_ns, dur_ns}, on);
        } else {
          trace.Kernel("lost", {device_ns, dur_ns}, on);
        }
        device_ns += dur_ns;
        host_ns += draw(3, 30);
      }
      trace.Annotation("ProfilerStep#" + std::to_string(step), {begin_ns, host_ns - begin_ns});
      const int64_t end_ns = std::max(host_ns, device_ns);
      lengths.push_back(end_ns - std::max(begin_ns, done_ns));
      done_ns = end_ns;
      host_ns += 2;
    }
    EXPECT_EQ(InheritedIn(trace), inherited) << seed;
    const std::vector<Interval> times = StepTimes(trace.View(), {});
    ASSERT_EQ(times.size(), lengths.size()) << seed;
    for (size_t i = 0; i < times.size(); ++i) {
      EXPECT_EQ(times[i].length(), lengths[i]) << seed << ", step " << i;
    }
  }
}

}  // namespace
}  // namespace borescope::internal
