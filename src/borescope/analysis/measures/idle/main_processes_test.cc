#include "borescope/analysis/measures/idle/main_processes.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  // Of its stream alone nothing else is known.
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

}  // namespace
}  // namespace borescope::internal
