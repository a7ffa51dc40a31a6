#include "borescope/analysis/measures/true_time/true_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/replay/replay_graph.h"
#include "borescope/analysis/measures/time/step_times.h"
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

constexpr int kSteps = 5;
constexpr int kOps = 60;

// The time that the profiler adds: before and after each operator, and to each launch call.
struct Cost {
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  int64_t launch_ns = 0;
};
constexpr Cost kProfiler{2000, 600, 5600};

// Steps of operators that call one operator each, which launches a kernel. Lengths follow from the
// seed, the same with and without a profiler.
class Program {
 public:
  Program(unsigned seed, Cost cost, int64_t kernel_ns)
      : random_(seed), cost_(cost), kernel_ns_(kernel_ns) {
    for (int step = 0; step < kSteps; ++step) {
      const int64_t begin_ns = now_ns_;
      for (int op = 0; op < kOps; ++op) {
        Call();
      }
      trace_.Annotation("ProfilerStep#" + std::to_string(step), {begin_ns, now_ns_ - begin_ns});
      now_ns_ += 10;
    }
  }

  TrueTimes Ask(const Params& params = {}) {
    const std::shared_ptr<const TrueTimes> times = SharedTrueTimes(trace_.View(), params);
    return *times;
  }

  // All recorded steps together.
  int64_t RecordedSteps() {
    int64_t sum_ns = 0;
    for (const Interval& step : StepTimes(trace_.View(), DeviceClocks())) {
      sum_ns += step.length();
    }
    return sum_ns;
  }

  // A step with all operators in half of their time, by replay.
  int64_t WithHalfOfTheHost(Params params) {
    params.values.push_back({kScaleParam.name, 0, "host:aten::linear=0.5"});
    const Tables tables = Analyse("whatif", {&trace_.View()}, params);
    const auto found = std::find_if(tables.begin(), tables.end(),
                                    [](const Table& table) { return table.name == "whatif"; });
    return found == tables.end() ? 0 : Ints(*found, "new_ns")[0];
  }

 private:
  int64_t Draw(int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random_);
  }

  void Call() {
    const int64_t own_ns = Draw(4000, 9000);
    now_ns_ += cost_.before_ns;
    const int64_t outer_ns = now_ns_;
    now_ns_ += cost_.before_ns;
    const int64_t inner_ns = now_ns_;
    now_ns_ += own_ns;
    const Span launch{now_ns_, 2400 + cost_.launch_ns};
    now_ns_ += launch.dur_ns;
    const Span inner{inner_ns, now_ns_ + 1 - inner_ns};
    now_ns_ += 1 + cost_.after_ns;
    const Span outer{outer_ns, now_ns_ + 1 - outer_ns};
    now_ns_ += 1 + cost_.after_ns;
    device_ns_ = std::max(device_ns_, launch.ts_ns + launch.dur_ns + 2000);
    trace_.Op("aten::linear", outer).Op("aten::addmm", inner);
    trace_.Launched("gemm", launch, {device_ns_, kernel_ns_}, {++number_});
    device_ns_ += kernel_ns_;
  }

  TestTrace trace_;
  std::mt19937 random_;
  Cost cost_;
  int64_t kernel_ns_;
  int64_t now_ns_ = 1000;
  int64_t device_ns_ = 0;
  int64_t number_ = 0;
};

TEST(TrueTimeTest, AHostBoundStepWithoutTheProfiler) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const TrueTimes recorded = Program(seed, kProfiler, 3000).Ask();
    const TrueTimes plain = Program(seed, {}, 3000).Ask();
    ASSERT_EQ(recorded.status, TrueTimeStatus::kCorrected) << seed;
    ASSERT_EQ(recorded.devices.size(), 1U);
    ASSERT_EQ(plain.devices.size(), 1U);
    const TrueTime& time = recorded.devices[0];
    const auto truth_ns = static_cast<double>(plain.devices[0].recorded_ns);
    EXPECT_EQ(time.steps, kSteps);
    EXPECT_GT(static_cast<double>(time.recorded_ns), 1.5 * truth_ns) << seed;
    EXPECT_NEAR(static_cast<double>(time.estimate_ns), truth_ns, 0.05 * truth_ns) << seed;
    EXPECT_LE(static_cast<double>(time.low_ns), truth_ns) << seed;
    EXPECT_GE(static_cast<double>(time.high_ns), truth_ns) << seed;
    EXPECT_NEAR(*recorded.pace.operator_ns(), 2600, 10) << seed;
  }
}

TEST(TrueTimeTest, ADeviceBoundStepTakesAsLongAsRecorded) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const TrueTimes recorded = Program(seed, kProfiler, 60'000).Ask();
    ASSERT_EQ(recorded.status, TrueTimeStatus::kSmall) << seed;
    const TrueTime& time = recorded.devices[0];
    const auto recorded_ns = static_cast<double>(time.recorded_ns);
    EXPECT_NEAR(static_cast<double>(time.estimate_ns), recorded_ns, 0.02 * recorded_ns) << seed;
    EXPECT_LT(time.IdleShareOf(time.estimate_ns), 0.02) << seed;
  }
}

Params PlainStep(std::string text) {
  Params params;
  params.values.push_back({kPlainStepParam.name, 0, std::move(text)});
  return params;
}

// The step that the user measured is the truth, and says what recording cost.
TEST(TrueTimeTest, AGivenStepReplacesTheEstimate) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const int64_t truth_ns = Program(seed, {}, 3000).Ask().devices.at(0).recorded_ns;
    const TrueTimes given =
        Program(seed, kProfiler, 3000).Ask(PlainStep(std::to_string(truth_ns) + "ns"));
    ASSERT_EQ(given.fault, "");
    EXPECT_EQ(given.status, TrueTimeStatus::kCorrected);
    const TrueTime& time = given.devices.at(0);
    EXPECT_EQ(time.estimate_ns, truth_ns);
    // One time means a tenth less to a tenth more.
    EXPECT_NEAR(static_cast<double>(time.low_ns),
                std::max(0.9 * static_cast<double>(truth_ns), static_cast<double>(time.device_ns)),
                1);
    EXPECT_NEAR(static_cast<double>(time.high_ns), 1.1 * static_cast<double>(truth_ns), 1);
    ASSERT_TRUE(given.factor.has_value());
    EXPECT_NEAR(*given.factor, 1, 0.1) << seed;
    const TrueTimes between = Program(seed, kProfiler, 3000)
                                  .Ask(PlainStep(std::to_string(truth_ns - 1000) + "ns," +
                                                 std::to_string(truth_ns + 1000) + "ns"));
    EXPECT_EQ(between.devices.at(0).low_ns, truth_ns - 1000);
    EXPECT_EQ(between.devices.at(0).estimate_ns, truth_ns);
    EXPECT_EQ(between.devices.at(0).high_ns, truth_ns + 1000);
  }
}

// What is taken off leaves the given step for each recorded one, whether or not the middle step is
// as long as the mean: the busy share is then the work of a step over the given step.
TEST(TrueTimeTest, AGivenStepIsLeftOfEachRecordedOne) {
  bool has_longer_middle = false;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Program program(seed, kProfiler, 3000);
    const int64_t truth_ns = Program(seed, {}, 3000).Ask().devices.at(0).recorded_ns;
    const TrueTimes given = program.Ask(PlainStep(std::to_string(truth_ns) + "ns"));
    const TrueTime& time = given.devices.at(0);
    for (const auto& [level, left_ns] :
         {std::pair(0, time.high_ns), std::pair(1, time.estimate_ns), std::pair(2, time.low_ns)}) {
      EXPECT_EQ(given.shorter_ns.at(static_cast<size_t>(level)),
                std::max<int64_t>(0, program.RecordedSteps() - time.steps * left_ns))
          << seed;
    }
    has_longer_middle |= time.recorded_ns * time.steps > program.RecordedSteps();
  }
  EXPECT_TRUE(has_longer_middle);
}

TEST(TrueTimeTest, AGivenStepMayBeWrong) {
  EXPECT_TRUE(Program(1, kProfiler, 3000)
                  .Ask(PlainStep("1us"))
                  .fault.starts_with("the device alone is busy for "));
  EXPECT_TRUE(Program(1, kProfiler, 3000)
                  .Ask(PlainStep("1s"))
                  .fault.starts_with(
                      "a step would take longer without the profiler than in this recording "));
  TestTrace no_steps;
  no_steps.Op("aten::mm", {0, 50}).Launched("gemm", {10, 5}, {30, 10}, {1});
  EXPECT_TRUE(SharedTrueTimes(no_steps.View(), PlainStep("1ms"))
                  ->fault.starts_with("the recording has no steps"));
}

// A change of the host is as large as in the program without the profiler.
TEST(TrueTimeTest, ScenariosWithoutTheCostOfRecording) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Params without;
    without.values.push_back({kWithoutRecordingParam.name, 1, ""});
    const auto truth_ns = static_cast<double>(Program(seed, {}, 3000).WithHalfOfTheHost({}));
    const auto recorded_ns =
        static_cast<double>(Program(seed, kProfiler, 3000).WithHalfOfTheHost({}));
    const auto found_ns =
        static_cast<double>(Program(seed, kProfiler, 3000).WithHalfOfTheHost(without));
    EXPECT_GT(recorded_ns, 1.3 * truth_ns) << seed;
    EXPECT_NEAR(found_ns, truth_ns, 0.1 * truth_ns) << seed;
  }
}

TEST(TrueTimeTest, SaysWhyThereIsNoEstimate) {
  TestTrace no_steps;
  no_steps.Op("aten::mm", {0, 50}).Launched("gemm", {10, 5}, {30, 10}, {1});
  EXPECT_EQ(SharedTrueTimes(no_steps.View(), {})->status, TrueTimeStatus::kNoSteps);
  TestTrace few;
  few.Annotation("ProfilerStep#1", {0, 60}).Annotation("ProfilerStep#2", {60, 60});
  few.Op("aten::mm", {0, 50}).Launched("gemm", {10, 5}, {30, 10}, {1});
  EXPECT_EQ(SharedTrueTimes(few.View(), {})->status, TrueTimeStatus::kNoPace);
  const TrueTimes slow = Program(1, {9000, 600, 0}, 3000).Ask();
  EXPECT_EQ(slow.status, TrueTimeStatus::kOtherObserver);
  EXPECT_FALSE(slow.has_estimates());
}

}  // namespace

}  // namespace borescope::internal
