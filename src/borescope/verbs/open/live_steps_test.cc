#include "borescope/verbs/open/live_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kMs = 1'000'000;

// Steps of 10 ms, each with a kernel of 4 ms and a collective of 2 ms.
TestTrace ThreeSteps() {
  TestTrace trace;
  int64_t number = 0;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t begin = step * 10 * kMs;
    trace.Annotation("ProfilerStep#" + std::to_string(step + 5), {begin, 10 * kMs});
    trace.Launched("gemm", {begin, kMs}, {begin + kMs, 4 * kMs}, {++number});
    trace.Launched("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", {begin + kMs, kMs},
                   {begin + 5 * kMs, 2 * kMs}, {++number});
  }
  return trace;
}

std::vector<LiveStep> StepsOf(TestTrace& trace, Tail& tail,
                              const std::vector<int64_t>& open_begins = {}) {
  Result<std::vector<LiveStep>> steps = LiveStepsOf(trace.View(), tail, open_begins);
  EXPECT_TRUE(steps.ok()) << steps.error().Sentence();
  return std::move(*steps);
}

TEST(LiveStepsOf, AsBreakdownByStepHasThem) {
  TestTrace trace = ThreeSteps();
  Tail tail;
  tail.last_ns = 1'000 * kMs;
  const std::vector<LiveStep> steps = StepsOf(trace, tail);
  ASSERT_EQ(steps.size(), 3U);
  Params params;
  params.by = {"step"};
  const Table table = std::move(Analyse("breakdown", {&trace.View()}, params)[0]);
  std::string rows = "step,span_ns,busy_ns,compute_ns,exposed_comm_ns,idle_ns\n";
  for (const LiveStep& step : steps) {
    EXPECT_TRUE(step.is_whole());
    EXPECT_EQ(step.launches, 2);
    for (const int64_t value : {step.number, step.time.span_ns, step.time.busy_ns,
                                step.time.compute_ns, step.time.exposed_comm_ns}) {
      rows += std::to_string(value) + ",";
    }
    rows += std::to_string(step.time.idle_ns) + "\n";
  }
  // The verb has a row more, for the time in no step.
  const std::string by_verb =
      Csv(table, {"step", "span_ns", "busy_ns", "compute_ns", "exposed_comm_ns", "idle_ns"});
  EXPECT_EQ(by_verb.substr(0, rows.size()), rows);
}

TEST(LiveStepsOf, WhatIsNotKnownIsMarked) {
  TestTrace trace = ThreeSteps();
  // Two launches that the device has not reported, and a call that never has a record.
  trace.Runtime("cudaLaunchKernel", {23 * kMs, 10}, 100);
  trace.Runtime("cuLaunchKernel", {23 * kMs + 1, 5}, 100);  // within it
  trace.Runtime("cudaMemcpyAsync", {24 * kMs, 10}, 101);
  trace.Runtime("cudaLaunchHostFunc", {25 * kMs, 10}, 102);
  Tail tail;
  tail.last_ns = 315 * kMs;
  const std::vector<LiveStep> steps = StepsOf(trace, tail, {20 * kMs});
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_TRUE(steps[0].is_whole());
  EXPECT_FALSE(steps[0].may_grow);
  EXPECT_TRUE(steps[1].may_grow);  // it ended less than 300 ms before the last record
  EXPECT_FALSE(steps[1].is_whole());
  EXPECT_EQ(steps[1].unreported, 0);
  EXPECT_TRUE(steps[2].is_running);
  EXPECT_EQ(steps[2].launches, 4);
  EXPECT_EQ(steps[2].unreported, 2);
}

TEST(LiveStepsOf, StepsThatTheViewHasNotAllOfAreLeftOut) {
  TestTrace trace = ThreeSteps();
  Tail tail;
  tail.complete_from_ns = 10 * kMs;
  // The one at 10 ms is there, and what came before it is not.
  const std::vector<LiveStep> steps = StepsOf(trace, tail);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].number, 7);
  tail.complete_from_ns = 30 * kMs;
  EXPECT_TRUE(StepsOf(trace, tail).empty());
}

TEST(JsonOfSteps, IsWhatThePageReads) {
  LiveRank rank;
  rank.rank = 3;
  rank.name = "x\".bsr";
  rank.state = WriterState::kDied;
  rank.base_ns = 5'000 * kMs;
  rank.has_steps = true;
  LiveStep step{.number = 4, .gpu = 0, .begin_ns = 2 * kMs, .end_ns = 5 * kMs};
  step.time.span_ns = 7;
  rank.steps.push_back(step);
  EXPECT_EQ(
      JsonOfSteps({rank}),
      "[{\"rank\":3,\"name\":\"x\\\".bsr\",\"state\":\"died\",\"text\":\"The process is gone, "
      "and did not end its log: it was killed. What it had recorded is here.\",\"notes\":[],"
      "\"steps\":[{\"step\":4,\"gpu\":0,\"begin_ms\":5002,\"state\":\"whole\",\"host_ns\":"
      "3000000,\"span_ns\":7,\"busy_ns\":0,\"compute_ns\":0,\"exposed_comm_ns\":0,"
      "\"exposed_copy_ns\":0,\"idle_ns\":0,\"launches\":0,\"unreported\":0}]}]\n");
}

}  // namespace
}  // namespace borescope::internal
