#include "borescope/index/launches/inherited_work.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

InheritedWork Find(TestTrace& trace) {
  const RankView& view = trace.View();
  return FindInheritedWork(view.trace, view.index.correlation);
}

TEST(InheritedWorkTest, NothingWhereAllWorkHasALaunch) {
  TestTrace trace;
  trace.Launched("gemm", {10, 5}, {30, 10}, {1});
  const InheritedWork found = Find(trace);
  EXPECT_TRUE(found.origin.empty());
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.OriginOf(DeviceId{0}), LaunchOrigin::kRecorded);
}

TEST(InheritedWorkTest, ComesFirstOnItsStreamAndHasASmallerNumber) {
  TestTrace trace;
  trace.Kernel("before", {0, 20}, {7}).Kernel("before", {20, 25}, {8});
  trace.Launched("gemm", {10, 5}, {50, 10}, {10});
  trace.Kernel("lost", {60, 10}, {12}).Kernel("after, with a small number", {70, 10}, {9});
  trace.Kernel("lost first of its stream", {80, 10}, {.correlation = 13, .stream = 9});
  const InheritedWork found = Find(trace);
  ASSERT_EQ(found.devices.size(), 1U);
  EXPECT_EQ(found.On(0)->works, 2);
  EXPECT_EQ(found.On(0)->device_ns, 45);
  EXPECT_EQ(found.On(0)->cut_ns, 45);
  EXPECT_EQ(found.On(1), nullptr);
  EXPECT_EQ(found.RateWindow(0, {{0, 30}, {40, 90}}), (IntervalSet{{45, 90}}));
  EXPECT_EQ(found.OriginOf(DeviceId{2}), LaunchOrigin::kRecorded);
  EXPECT_EQ(found.OriginOf(DeviceId{3}), LaunchOrigin::kLost);
  EXPECT_EQ(found.OriginOf(DeviceId{4}), LaunchOrigin::kLost);
  EXPECT_EQ(found.OriginOf(DeviceId{5}), LaunchOrigin::kLost);
}

TEST(InheritedWorkTest, WithoutNumbersByPlace) {
  TestTrace trace;
  trace.Kernel("first of a stream that goes on", {0, 90}).Launched("gemm", {50, 5}, {100, 9}, {1});
  trace.Kernel("before the first launch", {40, 70}, {.stream = 8});
  trace.Kernel("after it", {60, 10}, {.stream = 9});
  const InheritedWork found = Find(trace);
  EXPECT_EQ(found.OriginOf(DeviceId{0}), LaunchOrigin::kInherited);
  EXPECT_EQ(found.OriginOf(DeviceId{2}), LaunchOrigin::kInherited);
  EXPECT_EQ(found.OriginOf(DeviceId{3}), LaunchOrigin::kLost);
  EXPECT_EQ(found.On(0)->cut_ns, 110);
}

TEST(InheritedWorkTest, WithoutAnyLaunchNothingIsInherited) {
  TestTrace trace;
  trace.Kernel("gemm", {0, 90}, {1}).Runtime("cudaDeviceSynchronize", {50, 5}, 5);
  const InheritedWork found = Find(trace);
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.OriginOf(DeviceId{0}), LaunchOrigin::kLost);
}

// A program that launches on some streams, single kernels and graphs, and is recorded from its
// `begun`-th call on, in which calls are lost here and there. Which work is which is planted in the
// names.
class Planted {
 public:
  explicit Planted(unsigned seed) : random_(seed), begun_(Below(60)) {}

  TestTrace& Make() {
    for (int64_t call = 0; call < 200; ++call) {
      const bool is_inherited = call < begun_;
      // What loses calls loses none of the first of the recording: nothing would tell them from
      // those before.
      const bool is_lost = call > begun_ + 1 && Below(20) == 0;
      host_ns_ += 5 + Below(10);
      if (!is_inherited && !is_lost) {
        trace_.Runtime("cudaLaunchKernel", {host_ns_, 4}, 100 + call);
      }
      AddWork(100 + call, is_inherited ? "inherited" : is_lost ? "lost" : "recorded");
    }
    return trace_;
  }

 private:
  int64_t Below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random_);
  }

  void AddWork(int64_t number, std::string_view name) {
    const auto stream = static_cast<size_t>(Below(3));
    const int64_t works = Below(5) == 0 ? 4 : 1;
    for (int64_t work = 0; work < works; ++work) {
      free_ns_[stream] = std::max(free_ns_[stream], host_ns_ + 3);
      const int64_t dur_ns = 1 + Below(40);
      trace_.Kernel(name, {free_ns_[stream], dur_ns},
                    {.correlation = number, .stream = static_cast<int64_t>(stream)});
      free_ns_[stream] += dur_ns;
    }
  }

  TestTrace trace_;
  std::mt19937 random_;
  int64_t begun_;
  int64_t host_ns_ = 0;
  std::vector<int64_t> free_ns_ = {0, 0, 0};
};

TEST(InheritedWorkTest, TellsInheritedFromLostWork) {
  constexpr std::string_view kNames[] = {"recorded", "inherited", "lost"};
  for (unsigned seed = 0; seed < 50; ++seed) {
    Planted planted(seed);
    const RankView& view = planted.Make().View();
    const InheritedWork found = FindInheritedWork(view.trace, view.index.correlation);
    int64_t inherited = 0;
    for (uint32_t row = 0; row < view.trace.device().size(); ++row) {
      const std::string_view truth = view.trace.Name(DeviceId{row});
      inherited += truth == "inherited" ? 1 : 0;
      ASSERT_EQ(kNames[static_cast<size_t>(found.OriginOf(DeviceId{row}))], truth)
          << "seed " << seed << ", row " << row;
    }
    EXPECT_EQ(found.On(0) == nullptr ? 0 : found.On(0)->works, inherited) << "seed " << seed;
  }
}

}  // namespace
}  // namespace borescope::internal
