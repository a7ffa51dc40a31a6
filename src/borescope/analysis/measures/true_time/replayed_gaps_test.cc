#include "borescope/analysis/measures/true_time/replayed_gaps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/replay/replay.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// Before the second kernel the device waits for 84 us until it is launched, before the third for
// 200 us; a kernel begins 6 us after the begin of its launch.
void Plant(TestTrace& trace) {
  trace.Op("aten::a", {0, 520'000});
  trace.Launched("a", {10'000, 4'000}, {16'000, 100'000}, {.correlation = 1});
  trace.Launched("b", {200'000, 4'000}, {206'000, 94'000}, {.correlation = 2});
  trace.Launched("c", {500'000, 4'000}, {506'000, 94'000}, {.correlation = 3});
}

Place LaunchOf(const ReplayGraph& graph, DeviceId id) {
  const Place start = graph.StartOf(id);
  for (uint32_t edge = graph.first_edge[start]; edge < graph.first_edge[start + 1]; ++edge) {
    if (graph.recording.graph.side[graph.node[graph.source[edge]]] == NodeSide::kHost) {
      return graph.source[edge];
    }
  }
  return kNoPlace;
}

TEST(ReplayedGapsTest, WhatBecomesShorterIsDividedByTheLaunch) {
  TestTrace trace;
  Plant(trace);
  const RankView& view = trace.View();
  const ReplayGraph graph = BuildReplayGraph(view, "");
  const std::vector<int64_t> measured = MeasuredTimes(graph);
  const ReplayedGaps gaps(view, graph, measured);
  std::vector<int64_t> times = measured;
  const auto set = [&](uint32_t row, int64_t launch_ns, int64_t start_ns, int64_t end_ns) {
    times[LaunchOf(graph, {row})] = launch_ns;
    times[graph.StartOf({row})] = start_ns;
    times[graph.EndOf({row})] = end_ns;
  };
  set(1, 150'000, 156'000, 250'000);  // 50 us earlier
  set(2, 200'000, 250'000, 344'000);  // launched while the device is busy
  const GapTimes shorter = gaps.ShorterIn(times);
  EXPECT_EQ(shorter.short_late_ns, 50'000);
  EXPECT_EQ(shorter.long_late_ns, 200'000);
  EXPECT_EQ(shorter.latency_ns, 6'000);  // that of the gap which is closed
  EXPECT_EQ(shorter.all_ns(), 256'000);
}

TEST(ReplayedGapsTest, WhatComesLaterCountsAgainstIt) {
  TestTrace trace;
  Plant(trace);
  const RankView& view = trace.View();
  const ReplayGraph graph = BuildReplayGraph(view, "");
  const std::vector<int64_t> measured = MeasuredTimes(graph);
  const ReplayedGaps gaps(view, graph, measured);
  EXPECT_EQ(gaps.ShorterIn(measured).all_ns(), 0);
  std::vector<int64_t> times = measured;
  times[LaunchOf(graph, {2})] += 30'000;
  times[graph.StartOf({2})] += 30'000;
  times[graph.EndOf({2})] += 30'000;
  EXPECT_EQ(gaps.ShorterIn(times).long_late_ns, -30'000);
  EXPECT_EQ(gaps.ShorterIn(times).latency_ns, 0);
}

}  // namespace
}  // namespace borescope::internal
