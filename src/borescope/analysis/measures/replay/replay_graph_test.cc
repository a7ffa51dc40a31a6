#include "borescope/analysis/measures/replay/replay_graph.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/run_scenario.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

int64_t Sum(const std::vector<int64_t>& values) {
  int64_t sum = 0;
  for (const int64_t value : values) {
    sum += value;
  }
  return sum;
}

// How long the recording takes under the changes of a plan; "" changes nothing.
int64_t LengthUnder(const RankView& view, const std::string& changes) {
  const ReplayModel model = MakeReplayModel(view, "");
  if (changes.empty()) {
    return model.quality.replayed_ns;
  }
  const Params params;
  const Result<std::vector<Scenario>> plan = ReadPlan("{\"changes\":[" + changes + "]}");
  EXPECT_TRUE(plan.ok());
  const Result<ScenarioRun> run = ScenarioRunner(view, model, params).Run(plan->front());
  EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().Sentence());
  return run.ok() ? Sum(run->stretch_ns) : -1;
}

// An operator, a kernel that starts 6 us after its launch, and a wait for it.
TestTrace& LaunchAndWait(TestTrace& trace) {
  trace.Op("aten::mm", {0, 20'000});
  trace.Launched("gemm", {10'000, 4'000}, {16'000, 100'000}, {.correlation = 1});
  trace.Runtime("cudaStreamSynchronize", {20'000, 102'000}, 2);
  return trace;
}

TEST(ReplayTest, MeasuredLagsGiveTheRecordingBack) {
  TestTrace trace;
  const ReplayModel model = MakeReplayModel(LaunchAndWait(trace).View(), "");
  ReplayLags measured;
  SetMeasuredLags(model.graph, measured);
  EXPECT_EQ(Replay(model.graph, measured), MeasuredTimes(model.graph));
  EXPECT_EQ(model.quality.exact_ns, 0);
  EXPECT_EQ(model.quality.measured_ns, 122'000);
}

TEST(ReplayTest, ALaunchAKernelAndAWait) {
  TestTrace trace;
  const RankView& view = LaunchAndWait(trace).View();
  EXPECT_EQ(LengthUnder(view, ""), 10'000 + 6'000 + 100'000 + 6'000);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:gemm=0.5"})"), 10'000 + 6'000 + 50'000 + 6'000);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:gemm=2"})"), 10'000 + 6'000 + 200'000 + 6'000);
  // Only the host is left: 20 us, and 3 us of a call that has nothing to wait for.
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:gemm=0"})"), 20'000 + 3'000);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"host:aten::mm=0.5"})"), 5'000 + 6'000 + 100'000 + 6'000);
}

TEST(ReplayTest, RemovedWorkTakesNoLaunchEither) {
  TestTrace trace;
  const RankView& view = LaunchAndWait(trace).View();
  EXPECT_EQ(LengthUnder(view, R"({"remove":"kernel:gemm"})"), 16'000 + 3'000);
}

TEST(ReplayTest, AWaitThatEndsAtOnce) {
  TestTrace trace;
  const RankView& view = LaunchAndWait(trace).View();
  // The recording still ends with the kernel.
  EXPECT_EQ(LengthUnder(view, R"({"no-sync":"Synchronize"})"), 10'000 + 6'000 + 100'000);
}

TEST(ReplayTest, LaunchCallsOfOtherLength) {
  TestTrace trace;
  trace.Launched("a", {0, 10'000}, {6'000, 2'000}, {.correlation = 1});
  trace.Launched("b", {10'000, 10'000}, {16'000, 2'000}, {.correlation = 2});
  const RankView& view = trace.View();
  EXPECT_EQ(LengthUnder(view, R"({"launch":0.5})"), 5'000 + 6'000 + 2'000);
}

TEST(ReplayTest, WorkOfAStreamFollowsTheWorkBefore) {
  TestTrace trace;
  trace.Launched("a", {0, 4'000}, {6'000, 100'000}, {.correlation = 1});
  trace.Launched("b", {4'000, 4'000}, {107'200, 50'000}, {.correlation = 2});
  const RankView& view = trace.View();
  EXPECT_EQ(LengthUnder(view, ""), 157'200);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:a=0.1"})"), 6'000 + 10'000 + 1'200 + 50'000);
  EXPECT_EQ(LengthUnder(view, R"({"remove":"kernel:a"})"), 4'000 - 4'000 + 6'000 + 50'000);
}

TEST(ReplayTest, AStreamThatWaitsForAnEvent) {
  TestTrace trace;
  trace.Launched("a", {0, 4'000}, {6'000, 100'000}, {.correlation = 1});
  trace.Runtime("cudaEventRecord", {4'000, 1'000}, 2);
  trace.Runtime("cudaStreamWaitEvent", {5'000, 1'000}, 3);
  trace.StreamWait({106'000, 1'000}, {.correlation = 3, .stream = 8}, 7, 2);
  trace.Launched("b", {6'000, 4'000}, {108'000, 50'000}, {.correlation = 4, .stream = 8});
  const RankView& view = trace.View();
  EXPECT_EQ(LengthUnder(view, ""), 158'000);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:a=0.5"})"), 108'000);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:a=0"})"), 6'000 + 6'000 + 50'000);
}

TEST(ReplayTest, WorkWithoutALaunchFollowsTheWorkBefore) {
  TestTrace trace;
  trace.Launched("a", {0, 4'000}, {6'000, 50'000}, {.correlation = 1});
  trace.Kernel("lost", {57'200, 20'000});
  EXPECT_EQ(LengthUnder(trace.View(), R"({"scale":"kernel:a=0.5"})"),
            6'000 + 25'000 + 1'200 + 20'000);
}

TEST(ReplayTest, WorkBeforeAnyLaunchCannotMove) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 20'000});
  trace.Kernel("lost", {100'000, 20'000});
  EXPECT_EQ(LengthUnder(trace.View(), R"({"scale":"host:aten=0"})"), 120'000);
}

TEST(ReplayTest, WorkWithoutALaunchMovesWithTheLaunchBefore) {
  TestTrace trace;
  trace.Launched("a", {0, 4'000}, {6'000, 50'000}, {.correlation = 1});
  trace.Kernel("lost", {100'000, 20'000});
  const RankView& view = trace.View();
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:a=0.1"})"), 120'000);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:lost=0.5"})"), 110'000);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:a=3"})"), 6'000 + 150'000 + 1'200 + 20'000);
  const ReplayModel model = MakeReplayModel(view, "");
  EXPECT_EQ(model.quality.anchored_ns, 20'000);
  EXPECT_EQ(model.quality.device_ns, 70'000);
}

// Steps of 100 us of loading and 50 us of work.
TestTrace& Steps(TestTrace& trace, std::string_view loader, const std::vector<int64_t>& loading) {
  int64_t now_ns = 0;
  for (size_t i = 0; i < loading.size(); ++i) {
    trace.Annotation("ProfilerStep#" + std::to_string(i), {now_ns, loading[i] + 50'000});
    trace.Annotation(loader, {now_ns, loading[i]});
    trace.Op("aten::work", {now_ns + loading[i], 50'000});
    now_ns += loading[i] + 50'000;
  }
  return trace;
}

// Loading of 300, 100 and 200 us becomes taking a batch, of at most 100 us.
TEST(ReplayTest, DataLoadedInTheBackground) {
  TestTrace trace;
  const RankView& view = Steps(trace, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                               {300'000, 100'000, 200'000})
                             .View();
  EXPECT_EQ(LengthUnder(view, ""), 750'000);
  EXPECT_EQ(LengthUnder(view, R"({"no-data-wait":true})"), 450'000);
}

// As the process loads all data itself, the shortest loading time says nothing.
TEST(ReplayTest, LoadingThatAlwaysTakesAsLongIsMovedAsWell) {
  TestTrace trace;
  const RankView& view = Steps(trace, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                               {300'000, 300'000, 300'000})
                             .View();
  EXPECT_EQ(LengthUnder(view, R"({"no-data-wait":true})"), 450'000);
}

TEST(ReplayTest, LaunchesInDataLoadingStayWhereTheyAre) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#0", {0, 400'000});
  trace.Annotation("data_load", {0, 200'000});
  trace.Launched("copy", {150'000, 20'000}, {156'000, 3'000}, {.correlation = 1});
  trace.Op("aten::work", {200'000, 200'000});
  const RankView& view = trace.View();
  // Half of the 180 us of loading, as taking a batch takes 100 of 200; the call stays as it was.
  EXPECT_EQ(LengthUnder(view, R"({"no-data-wait":true})"), 90'000 + 20'000 + 200'000);
}

TEST(ReplayTest, NoWaitForBatchesOfOtherProcesses) {
  TestTrace trace;
  const RankView& view =
      Steps(trace, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
            {600'000, 600'000})
          .View();
  EXPECT_EQ(LengthUnder(view, R"({"no-data-wait":true})"), 2 * (100'000 + 50'000));
}

TEST(ReplayTest, ABatchOfAnotherProcessArrivesWhenItDid) {
  TestTrace trace;
  const RankView& view =
      Steps(trace, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
            {600'000, 600'000})
          .View();
  // Shorter work waits longer for batches; only the time after the last batch is saved.
  EXPECT_EQ(LengthUnder(view, R"({"scale":"host:aten::work=0.5"})"), 1'300'000 - 25'000);
  // Longer work waits less for its batch.
  EXPECT_EQ(LengthUnder(view, R"({"scale":"host:aten::work=2"})"), 1'300'000 + 50'000);
}

TEST(ReplayTest, StepsAreCompleteWithTheirWork) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#4", {0, 10'000});
  trace.Launched("a", {2'000, 2'000}, {8'000, 50'000}, {.correlation = 1});
  trace.Annotation("ProfilerStep#5", {10'000, 10'000});
  trace.Launched("b", {12'000, 2'000}, {59'200, 50'000}, {.correlation = 2});
  const ReplayModel model = MakeReplayModel(trace.View(), "");
  EXPECT_EQ(StretchTimes(model.graph, MeasuredTimes(model.graph)),
            (std::vector<int64_t>{58'000, 51'200}));
}

TEST(ReplayTest, AStepEndsWithTheLastOfWorkThatOverlaps) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#0", {0, 20'000});
  trace.Launched("long", {2'000, 2'000}, {8'000, 1'000'000}, {.correlation = 1});
  trace.Launched("short", {6'000, 2'000}, {20'000, 10'000}, {.correlation = 2});
  const RankView& view = trace.View();
  EXPECT_EQ(MakeReplayModel(view, "").quality.measured_ns, 1'008'000);
  EXPECT_EQ(LengthUnder(view, R"({"scale":"kernel:long=0.5"})"), 508'000);
}

TEST(ReplayTest, TimeBetweenStepsIsInNone) {
  TestTrace trace;
  for (int64_t step = 0; step < 3; ++step) {
    trace.Annotation("ProfilerStep#" + std::to_string(step), {step * 11'000'000, 1'000'000});
  }
  const ReplayModel model = MakeReplayModel(trace.View(), "");
  EXPECT_EQ(StretchTimes(model.graph, model.times),
            (std::vector<int64_t>{1'000'000, 1'000'000, 1'000'000}));
}

TEST(ReplayTest, CollectivesThatGetAStreamOfTheirOwn) {
  TestTrace trace;
  trace.Launched("gemm", {0, 4'000}, {6'000, 100'000}, {.correlation = 1});
  trace.Launched("ncclDevKernel_AllReduce", {4'000, 4'000}, {107'200, 50'000}, {.correlation = 2});
  trace.Launched("gemm", {8'000, 4'000}, {158'400, 100'000}, {.correlation = 3});
  const RankView& view = trace.View();
  EXPECT_EQ(LengthUnder(view, ""), 258'400);
  EXPECT_EQ(LengthUnder(view, R"({"overlap-comm":true})"), 6'000 + 100'000 + 1'200 + 100'000);
  const ReplayModel model = MakeReplayModel(view, "");
  const Params params;
  const ScenarioRunner runner(view, model, params);
  const Result<ScenarioRun> run = runner.Run({"", {{.kind = ChangeKind::kOverlapComm}}});
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run->is_unsafe);
  EXPECT_EQ(run->assumed_ns, 0);
}

TEST(ReplayTest, DataIsMovedToTheBackgroundOnce) {
  TestTrace trace;
  const RankView& view = Steps(trace, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                               {300'000, 100'000})
                             .View();
  EXPECT_EQ(LengthUnder(view, R"({"no-data-wait":true},{"no-data-wait":true})"),
            LengthUnder(view, R"({"no-data-wait":true})"));
}

// Classes with too few cases share those of their kind, which are summed once.
TEST(ReplayTest, ManyNamesOfCallsCostTheirNumber) {
  TestTrace trace;
  for (int64_t i = 0; i < 40'000; ++i) {
    trace.Runtime("cudaLaunchKernel" + std::to_string(i), {i * 10'000, 4'000}, i + 1);
    trace.Kernel("k", {i * 10'000 + 6'000, 3'000}, {.correlation = i + 1});
  }
  const ReplayModel model = MakeReplayModel(trace.View(), "");
  EXPECT_EQ(model.quality.identity(), 0);
  EXPECT_EQ(model.constants.front().source, LagSource::kKind);
}

TEST(ReplayTest, LaunchesThatBecomeAGraph) {
  TestTrace trace;
  trace.Annotation("region", {0, 100'000});
  for (int i = 0; i < 5; ++i) {
    trace.Launched("k", {i * 20'000, 5'000}, {i * 20'000 + 6'000, 3'000}, {.correlation = i + 1});
  }
  const RankView& view = trace.View();
  EXPECT_EQ(LengthUnder(view, ""), 100'000);
  // Five kernels after one launch: 6 us, 3 us each, and 1 us between them.
  EXPECT_EQ(LengthUnder(view, R"({"graph":"region"})"), 6'000 + 5 * 3'000 + 4 * 1'000);
}

// The engine runs backward on a thread of its own while the main thread waits: its launches are
// part of the step, and of its graph, and no thread hands over to another.
TEST(ReplayTest, AStepAsAGraphHasTheLaunchesOfBackward) {
  TestTrace trace;
  constexpr int64_t kEngine = 2;
  trace.Annotation("ProfilerStep#0", {0, 200'000});
  trace.Op("aten::mm", {0, 30'000});
  trace.Launched("forward", {10'000, 5'000}, {16'000, 3'000}, {.correlation = 1});
  for (int i = 0; i < 3; ++i) {
    const int64_t at_ns = 50'000 + i * 40'000;
    trace.Op("autograd::engine::evaluate_function: MmBackward0", {at_ns, 30'000}, {}, kEngine);
    trace.Runtime("cudaLaunchKernel", {at_ns + 10'000, 5'000}, i + 2, kEngine);
    trace.Kernel("backward", {at_ns + 16'000, 3'000}, {.correlation = i + 2});
  }
  trace.Op("aten::add_", {180'000, 20'000});
  trace.Launched("optimizer", {185'000, 5'000}, {191'000, 3'000}, {.correlation = 9});
  const RankView& view = trace.View();
  EXPECT_EQ(LengthUnder(view, ""), 200'000);
  EXPECT_EQ(LengthUnder(view, R"({"graph":"ProfilerStep"})"), 6'000 + 5 * 3'000 + 4 * 1'000);
}

// --- laws ---

TEST(ReplayTest, LessTimeIsNeverLonger) {
  TestTrace trace;
  LaunchAndWait(trace);
  trace.Launched("b", {130'000, 4'000}, {136'000, 30'000}, {.correlation = 5, .stream = 9});
  const RankView& view = trace.View();
  for (const char* what : {"kernel:gemm", "kernel:b", "host:aten", "class:gemm"}) {
    int64_t last = -1;
    for (const char* factor : {"0", "0.25", "0.5", "1", "1.5", "4"}) {
      const int64_t length =
          LengthUnder(view, std::string(R"({"scale":")") + what + "=" + factor + "\"}");
      EXPECT_GE(length, last) << what << " x " << factor;
      last = length;
    }
    EXPECT_EQ(LengthUnder(view, std::string(R"({"scale":")") + what + "=1\"}"),
              LengthUnder(view, ""));
  }
}

TEST(ReplayTest, WhatIsNotThereIsAnError) {
  TestTrace trace;
  const RankView& view = LaunchAndWait(trace).View();
  const ReplayModel model = MakeReplayModel(view, "");
  const Params params;
  for (const char* changes :
       {R"({"scale":"kernel:no such=1"})", R"({"remove":"comm"})", R"({"no-sync":"no such"})",
        R"({"graph":"no such"})", R"({"scale":"host:no such=0"})", R"({"roof":1})"}) {
    const std::vector<Scenario> plan = *ReadPlan(std::string("{\"changes\":[") + changes + "]}");
    const Result<ScenarioRun> run = ScenarioRunner(view, model, params).Run(plan.front());
    ASSERT_FALSE(run.ok()) << changes;
    EXPECT_EQ(run.error().code, ErrorCode::kMissingData);
  }
}

TEST(ReplayTest, NothingRecordedIsRefused) {
  TestTrace trace;
  const ReplayModel model = MakeReplayModel(trace.View(), "");
  EXPECT_EQ(model.quality.verdict, ReplayVerdict::kRefused);
  EXPECT_FALSE(CauseOf(trace.View().trace, model.quality).empty());
}

}  // namespace

}  // namespace borescope::internal
