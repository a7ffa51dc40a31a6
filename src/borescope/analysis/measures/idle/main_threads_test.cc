#include "borescope/analysis/measures/idle/main_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "borescope/testing/test_trace.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::Span;
using testkit::TraceMaker;

constexpr int64_t kUs = 1000;
constexpr int64_t kMainThread = 1;
constexpr int64_t kLoaderThread = 2;

void Launch(TraceMaker& maker, int64_t thread, int64_t correlation, Span call, Span work) {
  maker.Call(thread == kMainThread ? "cudaLaunchKernel" : "cudaMemcpyAsync", thread, call,
             correlation);
  maker.Kernel("work", thread, work, {.correlation = correlation});
}

// The main thread works for 200 us, with a gap of 900 us from 110 us on, and the loader for 10 us.
Trace WithCopyAt(int64_t copy_us, Span main_call) {
  TraceMaker maker;
  Launch(maker, kMainThread, 1, {0, 5 * kUs}, {10 * kUs, 100 * kUs});
  Launch(maker, kMainThread, 2, main_call, {1010 * kUs, 100 * kUs});
  Launch(maker, kLoaderThread, 3, {(copy_us - 7) * kUs, 5 * kUs}, {copy_us * kUs, 10 * kUs});
  return maker.Finish();
}

constexpr Span kEarly{20 * kUs, 5 * kUs};
constexpr Span kLate{1000 * kUs, 5 * kUs};

std::string CausesOf(const Trace& trace) {
  const TraceIndex index = BuildIndex(trace, 1);
  const RankView view{0, trace, index};
  const Tables tables = Analyse("idle", {&view});
  const auto causes = std::find_if(tables.begin(), tables.end(),
                                   [](const Table& table) { return table.name == "idle_causes"; });
  return Csv(*causes, {"idle_ns", "host_ns", "latency_ns", "device_ns", "unrecorded_ns"});
}

// In all of them 10 us before the first work are of its launch.
std::string Causes(int64_t host_us, int64_t latency_us, int64_t device_us, int64_t unrecorded_us) {
  std::string text = "idle_ns,host_ns,latency_ns,device_ns,unrecorded_ns\n";
  text += std::to_string((host_us + latency_us + 10 + device_us + unrecorded_us) * kUs);
  for (const int64_t us : {host_us, latency_us + 10, device_us, unrecorded_us}) {
    text += "," + std::to_string(us * kUs);
  }
  return text + "\n";
}

TEST(SmallWorkOfOthersTest, TheNextWorkOfTheMainThreadIsWhatIsLate) {
  // 890 us up to the launch without the 10 us of the copy; then latency.
  EXPECT_EQ(CausesOf(WithCopyAt(500, kLate)), Causes(880, 10, 0, 0));
}

TEST(SmallWorkOfOthersTest, ExplainsNothingLongBeforeTheNextWork) {
  EXPECT_EQ(CausesOf(WithCopyAt(500, kEarly)), Causes(0, 0, 0, 890));
}

TEST(SmallWorkOfOthersTest, MayBeWhatTheNextWorkWaitsFor) {
  // The copy is launched at 985 us, and begins 7 us later; 8 us after it the kernel begins.
  EXPECT_EQ(CausesOf(WithCopyAt(992, kEarly)), Causes(875, 7, 8, 0));
}

TEST(SmallWorkOfOthersTest, IsLessThanATenthOfTheLargest) {
  TraceMaker maker;
  Launch(maker, kMainThread, 1, {0, 5 * kUs}, {10 * kUs, 100 * kUs});
  Launch(maker, kLoaderThread, 2, {200 * kUs, 5 * kUs}, {210 * kUs, 10 * kUs});
  const Trace trace = maker.Finish();
  const TraceIndex index = BuildIndex(trace, 1);
  const RankView view{0, trace, index};
  std::vector<uint32_t> streams;
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    if (trace.tracks().kind[track] == TrackKind::kDevice) {
      streams.push_back(track);
    }
  }
  EXPECT_TRUE(FindMainGaps(view, streams).empty());  // a tenth is not small
  const Trace small = WithCopyAt(500, kLate);
  const TraceIndex small_index = BuildIndex(small, 1);
  const std::vector<MainGap> gaps = FindMainGaps({0, small, small_index}, streams);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].gap.time, (Interval{110 * kUs, 1010 * kUs}));
  EXPECT_FALSE(gaps[0].after_small);
}

}  // namespace
}  // namespace borescope::internal
