#include "borescope/analysis/measures/idle/idle_causes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {

namespace {

using testkit::TraceMaker;

constexpr int64_t kUs = 1000;

void Launch(TraceMaker& maker, int64_t pid, int64_t correlation, testkit::Span call,
            testkit::Span work, int64_t stream) {
  TracePart& part = maker.part();
  const uint32_t row = AddMissingRow(part.data.runtime_calls);
  part.data.runtime_calls.correlation[row] = correlation;
  AddHostRow(part.data.host, {.ts_ns = call.ts_ns,
                              .dur_ns = call.dur_ns,
                              .name = part.Intern("cudaLaunchKernel"),
                              .track = part.Track(TrackKind::kHost, pid, pid),
                              .kind = HostKind::kRuntime,
                              .detail = row});
  maker.Kernel("kernel", stream, work, {.correlation = correlation});
}

// Process 1 works for 200 us, with a launch call of 500 us in between, and process 2 for 10 us in
// the middle of that.
Trace TwoProcesses() {
  TraceMaker maker;
  Launch(maker, 1, 1, {0, 5 * kUs}, {10 * kUs, 100 * kUs}, 7);
  Launch(maker, 1, 2, {100 * kUs, 500 * kUs}, {610 * kUs, 100 * kUs}, 7);
  Launch(maker, 2, 3, {290 * kUs, 5 * kUs}, {300 * kUs, 10 * kUs}, 9);
  return maker.Finish();
}

TEST(MainProcessesTest, HaveMostOfTheDeviceTime) {
  const Trace trace = TwoProcesses();
  const TraceIndex index = BuildIndex(trace, 1);
  std::vector<uint32_t> streams;
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    if (trace.tracks().kind[track] == TrackKind::kDevice) {
      streams.push_back(track);
    }
  }
  const MainProcesses main = FindMainProcesses({0, trace, index}, streams);
  EXPECT_EQ(main.pids, std::vector<int64_t>{1});
  ASSERT_EQ(main.tracks.size(), 1U);
  EXPECT_EQ(trace.tracks().tid[main.tracks[0]], 7);
  // Its stream alone has no other process.
  EXPECT_TRUE(FindMainProcesses({0, trace, index}, main.tracks).pids.empty());
}

TEST(MainProcessesTest, OthersDoNotExplainWhyADeviceIdles) {
  const Trace trace = TwoProcesses();
  const TraceIndex index = BuildIndex(trace, 1);
  const RankView view{0, trace, index};
  const Tables tables = Analyse("idle", {&view});
  const auto causes = std::find_if(tables.begin(), tables.end(),
                                   [](const Table& table) { return table.name == "idle_causes"; });
  ASSERT_NE(causes, tables.end());
  // The call begins at 100 and ends at 600; from 110 on the device idles, but for 10.
  EXPECT_EQ(Csv(*causes, {"idle_ns", "gaps", "launch_call_ns", "latency_ns", "host_ns"}),
            "idle_ns,gaps,launch_call_ns,latency_ns,host_ns\n500000,2,480000,20000,0\n");
}

using testkit::Span;
using testkit::TraceMaker;

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

// In each case the 10 us before the first work are due to its launch.
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

// ---- A host that waits for the device ----

// Blocks of kernels that take longer than their launches, and after each block, if `waits`, a wait
// for them. The device begins what was launched 6 us ago, and 1 us after what came before.
struct WaitingLoop {
  int64_t blocks = 0;
  int64_t kernels = 0;  // of a block
  int64_t kernel_ns = 0;
  int64_t launch_ns = 0;  // of the host for each kernel
  int64_t return_ns = 0;  // from the end of the work to that of the wait

  // The span of the program, which is added to the trace.
  int64_t RunIn(TestTrace& trace, bool waits) const {
    int64_t host_ns = 0;
    int64_t free_ns = 0;
    int64_t correlation = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      for (int64_t i = 0; i < kernels; ++i) {
        const int64_t begin_ns = std::max(host_ns + 6 * kUs, free_ns + kUs);
        trace.Launched("gemm", {host_ns, 3 * kUs}, {begin_ns, kernel_ns}, {++correlation});
        free_ns = begin_ns + kernel_ns;
        host_ns += launch_ns;
      }
      if (waits) {
        trace.Runtime("cudaStreamSynchronize", {host_ns, free_ns + return_ns - host_ns});
        host_ns = free_ns + return_ns;
      }
    }
    return free_ns;
  }
};

// What waiting costs is how much longer the program takes with it: the time until the next launch,
// and the latency of that, which a launch made ahead does not show.
TEST(IdleCausesTest, WaitsCostTheLatencyOfTheNextLaunchToo) {
  std::mt19937 random(11);
  const auto between = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 50; ++round) {
    const WaitingLoop loop{.blocks = between(5, 20),
                           .kernels = between(4, 12),
                           .kernel_ns = between(20, 60) * kUs,
                           .launch_ns = between(5, 12) * kUs,
                           .return_ns = between(1, 8) * kUs};
    TestTrace ahead;
    TestTrace waiting;
    const int64_t plain_ns = loop.RunIn(ahead, false);
    const int64_t cost_ns = loop.RunIn(waiting, true) - plain_ns;
    const auto of_sync = [](TestTrace& trace, std::string_view column) {
      const std::shared_ptr<const Result<IdleTimes>> idle = SharedIdleTimes(trace.View(), {});
      return idle->ok() ? Ints((*idle)->tables[0], column)[0] : kMissing;
    };
    const int64_t found_ns = of_sync(waiting, "sync_ns") + of_sync(waiting, kLatencyOfSync);
    // Between two kernels there is 1 us in any case.
    EXPECT_NEAR(static_cast<double>(found_ns), static_cast<double>(cost_ns),
                static_cast<double>(loop.blocks * kUs))
        << round;
    EXPECT_GE(of_sync(waiting, "latency_ns"), of_sync(waiting, kLatencyOfSync));
    EXPECT_EQ(of_sync(ahead, "sync_ns") + of_sync(ahead, kLatencyOfSync), 0) << round;
  }
}

}  // namespace

}  // namespace borescope::internal
