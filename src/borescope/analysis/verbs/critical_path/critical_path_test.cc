#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

const Table& TableOf(const Tables& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  EXPECT_NE(found, tables.end()) << name;
  return *found;
}

Tables Ask(TestTrace& trace, const Params& params = {}) {
  return Analyse("critical-path", {&trace.View()}, params);
}

// The rows of the path: "name kind bound_by duration".
std::vector<std::string> PathOf(TestTrace& trace, const Params& params = {}) {
  const Tables tables = Ask(trace, params);
  const Table& path = TableOf(tables, "critical_path");
  std::vector<std::string> lines;
  for (size_t row = 0; row < path.rows(); ++row) {
    lines.push_back(Texts(path, "name")[row] + " " + Texts(path, "kind")[row] + " " +
                    Texts(path, "bound_by")[row] + " " +
                    std::to_string(Ints(path, "duration_ns")[row]));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(CriticalPathTest, AHostThatNeverWaits) {
  TestTrace trace;
  trace.Op("aten::a", {0, 50}).Launched("kernel", {10, 5}, {20, 10}, {.correlation = 1});
  trace.Op("aten::b", {60, 40});
  EXPECT_EQ(PathOf(trace), (Lines{"aten::a operator cpu 10", "cudaLaunchKernel operator cpu 5",
                                  "aten::a operator cpu 35", "(between events) dependency cpu 10",
                                  "aten::b operator cpu 40"}));
}

// Two kernels, the second behind the first, and a call that waits for them.
void PlantWait(TestTrace& trace) {
  trace.Launched("first", {0, 5}, {8, 40}, {.correlation = 1});
  trace.Launched("second", {10, 5}, {50, 30}, {.correlation = 2});
  trace.Runtime("cudaDeviceSynchronize", {20, 65});
  trace.Op("aten::after", {90, 10});
}

TEST(CriticalPathTest, ADeviceThatIsWaitedFor) {
  TestTrace trace;
  PlantWait(trace);
  EXPECT_EQ(PathOf(trace),
            (Lines{"first launch_delay launch 8", "first operator gpu_compute 40",
                   "second kernel_kernel_delay kernel_kernel_delay 2",
                   "second operator gpu_compute 30", "cudaDeviceSynchronize sync cpu 5",
                   "(between events) dependency cpu 5", "aten::after operator cpu 10"}));
}

TEST(CriticalPathTest, TheSummaryAddsUp) {
  TestTrace trace;
  PlantWait(trace);
  EXPECT_EQ(Csv(TableOf(Ask(trace), "critical_path_summary"), {"bound_by", "total_ns", "share"}),
            "bound_by,total_ns,share\ncpu,20,0.2\ndata_load,0,0\nlaunch,8,0.08\n"
            "kernel_kernel_delay,2,0.02\ngpu_compute,70,0.7\ngpu_communication,0,0\n"
            "gpu_memory_copy,0,0\nwait,0,0\n");
}

TEST(CriticalPathTest, WhatIsOnItAddsUpToTheWindow) {
  TestTrace trace;
  PlantWait(trace);
  EXPECT_EQ(Csv(TableOf(Ask(trace), "critical_ops"), {"name", "side", "calls", "path_ns"}),
            "name,side,calls,path_ns\nfirst,device,1,40\nsecond,device,1,30\n"
            "aten::after,host,1,10\n(launch),-,-,8\ncudaDeviceSynchronize,host,1,5\n(cpu),-,-,5\n"
            "(kernel_kernel_delay),-,-,2\n");
}

TEST(CriticalPathTest, WhatIsFreeMakesAnotherPathTheLongest) {
  TestTrace trace;
  PlantWait(trace);
  // Without the first kernel, the second waits for its launch at 10; the host needs 20 + 5 + 10
  // besides what it waits for, so that it cannot be shorter than what is launched at 10 takes.
  EXPECT_EQ(Csv(TableOf(Ask(trace), "what_if"), {"name", "path_ns", "saved_ns"}),
            "name,path_ns,saved_ns\nfirst,40,40\nsecond,30,30\naten::after,10,10\n"
            "cudaDeviceSynchronize,5,0\n");
}

TEST(CriticalPathTest, SlackIsNoneOnThePath) {
  TestTrace trace;
  PlantWait(trace);
  EXPECT_EQ(Csv(TableOf(Ask(trace), "slack"), {"name", "side", "slack_ns"}),
            "name,side,slack_ns\ncudaLaunchKernel,host,40\ncudaLaunchKernel,host,65\n"
            "cudaDeviceSynchronize,host,65\naten::after,host,0\nfirst,device,0\nsecond,device,0\n");
}

TEST(CriticalPathTest, ALateLaunchIsWaitedForNotTheStream) {
  TestTrace trace;
  trace.Launched("first", {0, 5}, {6, 4}, {.correlation = 1});
  trace.Launched("second", {50, 5}, {57, 30}, {.correlation = 2});
  trace.Runtime("cudaDeviceSynchronize", {60, 30});
  EXPECT_EQ(PathOf(trace),
            (Lines{"cudaLaunchKernel operator cpu 5", "(between events) dependency cpu 45",
                   "second launch_delay launch 7", "second operator gpu_compute 30",
                   "cudaDeviceSynchronize sync cpu 3"}));
}

TEST(CriticalPathTest, WorkOfAGraphFollowsWorkOfTheGraphOnAnotherStream) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", {0, 5}, 1);
  trace.Kernel("a", {10, 20}, {.correlation = 1, .stream = 7});
  trace.Kernel("b", {32, 30}, {.correlation = 1, .stream = 8});
  trace.Runtime("cudaDeviceSynchronize", {6, 60});
  EXPECT_EQ(PathOf(trace),
            (Lines{"a launch_delay launch 10", "a operator gpu_compute 20",
                   "b kernel_kernel_delay kernel_kernel_delay 2", "b operator gpu_compute 30",
                   "cudaDeviceSynchronize sync cpu 4"}));
}

TEST(CriticalPathTest, TheMainThreadWaitsForTheAutogradEngine) {
  TestTrace trace;
  trace.Op("aten::mul", {0, 20}, {.sequence = 5});
  trace.Op("MulBackward0", {30, 40}, {.forward_thread = 1, .sequence = 5}, 2);
  trace.Op("aten::step", {80, 20});
  EXPECT_EQ(PathOf(trace), (Lines{"aten::mul operator cpu 20", "MulBackward0 dependency cpu 10",
                                  "MulBackward0 operator cpu 40", "aten::step dependency cpu 10",
                                  "aten::step operator cpu 20"}));
}

// The operators of the engine are the same in each of these; what the main thread is in is not.
void PlantBackward(TestTrace& trace) {
  trace.Op("aten::mul", {0, 20}, {.sequence = 5});
  trace.Op("autograd::engine::evaluate_function: MulBackward0", {30, 30}, {}, 2);
  trace.Op("MulBackward0", {32, 20}, {.forward_thread = 1, .sequence = 5}, 2);
  trace.Op("autograd::engine::evaluate_function: AccumulateGrad", {65, 5}, {}, 2);
  trace.Op("aten::step", {80, 20});
}

const char* const kPlantedEngine[] = {
    "autograd::engine::evaluate_function: MulBackward0 operator cpu 2",
    "MulBackward0 operator cpu 20",
    "autograd::engine::evaluate_function: MulBackward0 operator cpu 8",
    "autograd::engine::evaluate_function: AccumulateGrad dependency cpu 5",
    "autograd::engine::evaluate_function: AccumulateGrad operator cpu 5"};

Lines WithEngine(Lines before, const Lines& after) {
  before.insert(before.end(), std::begin(kPlantedEngine), std::end(kPlantedEngine));
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

TEST(CriticalPathTest, PythonOfTheMainThreadEndsWhereItCallsTheEngine) {
  TestTrace trace;
  PlantBackward(trace);
  trace.Python("train.py(7): step", {0, 100});
  trace.Python("run_backward", {25, 50});
  EXPECT_EQ(PathOf(trace),
            WithEngine({"aten::mul operator cpu 20", "train.py(7): step dependency cpu 5",
                        "autograd::engine::evaluate_function: MulBackward0 dependency cpu 5"},
                       {"run_backward dependency cpu 5", "train.py(7): step dependency cpu 5",
                        "aten::step operator cpu 20"}));
}

TEST(CriticalPathTest, AnOperatorThatSpansBackwardWaitsForTheEngine) {
  TestTrace trace;
  PlantBackward(trace);
  trace.Op("Backward", {24, 52});
  EXPECT_EQ(PathOf(trace),
            WithEngine({"aten::mul operator cpu 20", "(between events) dependency cpu 4",
                        "autograd::engine::evaluate_function: MulBackward0 dependency cpu 6"},
                       {"Backward dependency cpu 6", "(between events) dependency cpu 4",
                        "aten::step operator cpu 20"}));
}

// A call that runs next to the engine is no wait for it.
TEST(CriticalPathTest, ACallThatSpansTheEngineDoesNotWaitForIt) {
  TestTrace trace;
  PlantBackward(trace);
  trace.Runtime("cudaMalloc", {24, 52});
  EXPECT_EQ(PathOf(trace), (Lines{"aten::mul operator cpu 20", "(between events) dependency cpu 4",
                                  "cudaMalloc operator cpu 52", "(between events) dependency cpu 4",
                                  "aten::step operator cpu 20"}));
}

TEST(CriticalPathTest, AnAnnotationWithoutOperatorsWaitsForTheEngine) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {0, 100});
  trace.Annotation("backward", {10, 80});
  trace.Op("autograd::engine::evaluate_function: MulBackward0", {30, 30}, {}, 2);
  EXPECT_EQ(PathOf(trace),
            (Lines{"ProfilerStep#1 dependency cpu 10",
                   "autograd::engine::evaluate_function: MulBackward0 dependency cpu 20",
                   "autograd::engine::evaluate_function: MulBackward0 operator cpu 30",
                   "backward dependency cpu 30", "ProfilerStep#1 dependency cpu 10"}));
}

// Gradients on the CPU are accumulated by the thread that called the engine, while that goes on.
TEST(CriticalPathTest, TheMainThreadHelpsTheEngine) {
  TestTrace trace;
  trace.Op("aten::mul", {0, 20}, {.sequence = 5});
  trace.Op("MulBackward0", {30, 20}, {.forward_thread = 1, .sequence = 5}, 2);
  trace.Op("AddBackward0", {52, 20}, {}, 2);
  trace.Op("autograd::engine::evaluate_function: AccumulateGrad", {55, 10});
  trace.Op("SubBackward0", {74, 6}, {}, 2);
  trace.Op("aten::step", {90, 10});
  EXPECT_EQ(PathOf(trace), (Lines{"aten::mul operator cpu 20", "MulBackward0 dependency cpu 10",
                                  "MulBackward0 operator cpu 20", "AddBackward0 dependency cpu 2",
                                  "AddBackward0 operator cpu 20", "SubBackward0 dependency cpu 2",
                                  "SubBackward0 operator cpu 6", "aten::step dependency cpu 10",
                                  "aten::step operator cpu 10"}));
}

// The main thread has no steps, but operators of the engine: it is the main one all the same.
TEST(CriticalPathTest, AThreadThatGivesForwardOperatorsToTheEngineIsNotOfIt) {
  TestTrace trace;
  trace.Op("aten::mul", {0, 20}, {.sequence = 5});
  trace.Op("MulBackward0", {30, 20}, {.forward_thread = 1, .sequence = 5}, 2);
  trace.Op("autograd::engine::evaluate_function: AccumulateGrad", {60, 10});
  trace.Op("aten::step", {80, 20});
  EXPECT_EQ(PathOf(trace),
            (Lines{"aten::mul operator cpu 20", "MulBackward0 dependency cpu 10",
                   "MulBackward0 operator cpu 20",
                   "autograd::engine::evaluate_function: AccumulateGrad dependency cpu 10",
                   "autograd::engine::evaluate_function: AccumulateGrad operator cpu 10",
                   "(between events) dependency cpu 10", "aten::step operator cpu 20"}));
}

TEST(CriticalPathTest, AThreadOfPythonFramesAloneIsNotTheMainOne) {
  TestTrace trace;
  trace.Op("aten::a", {20, 60});
  trace.Python("threading.py(359): wait", {0, 100}, 2);
  EXPECT_EQ(PathOf(trace),
            (Lines{"(nothing recorded) dependency wait 20", "aten::a operator cpu 60",
                   "(nothing recorded) dependency wait 20"}));
}

TEST(CriticalPathTest, DataLoading) {
  TestTrace trace;
  trace.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", {0, 30});
  trace.Op("aten::stack", {10, 10});
  trace.Op("my_reader", {40, 20});
  Params params;
  params.values.push_back({kDataLoadParam.name, 0, "my_reader"});
  EXPECT_EQ(Ints(TableOf(Ask(trace, params), "critical_path_summary"), "total_ns")[1], 50);
}

TEST(CriticalPathTest, WindowsShowTheirPartOfThePath) {
  TestTrace trace;
  PlantWait(trace);
  trace.Annotation("window", {5, 50});
  Params params;
  params.selection.annotation = "window";
  EXPECT_EQ(
      PathOf(trace, params),
      (Lines{"first launch_delay launch 3", "first operator gpu_compute 40",
             "second kernel_kernel_delay kernel_kernel_delay 2", "second operator gpu_compute 5"}));
}

TEST(CriticalPathTest, StreamsCannotBeLeftOut) {
  Params params;
  params.selection.gpus = *NumberRanges::Parse("0");
  EXPECT_EQ(kCriticalPathVerb.check(params).error().code, ErrorCode::kInvalidArgument);
}

TEST(CriticalPathTest, AdviceWhereWaitsAreInferred) {
  TestTrace trace;
  PlantWait(trace);
  const Tables tables = Ask(trace);
  const Table& quality = TableOf(tables, "sync_quality");
  EXPECT_EQ(Csv(quality, {"edges", "inferred"}), "edges,inferred\n1,1\n");
  EXPECT_NE(Texts(quality, "help")[0].find("enable_cuda_sync_events"), std::string::npos);
}

TEST(CriticalPathTest, ACaveatWhereNoWaitsWereRecorded) {
  const auto help = [](TestTrace& trace) {
    return Texts(TableOf(Ask(trace), "sync_quality"), "help")[0];
  };
  TestTrace lacking;
  lacking.Launched("a", {0, 5}, {10, 20}, {1, 7, 0}).Runtime("cudaMemcpyAsync", {40, 5});
  EXPECT_TRUE(help(lacking).starts_with("Device work was launched, but no call that waits"));
  TestTrace waiting;
  waiting.Launched("a", {0, 5}, {10, 20}, {1, 7, 0}).Runtime("cudaStreamSynchronize", {10, 25});
  EXPECT_FALSE(help(waiting).starts_with("Device work was launched"));
  TestTrace copying;
  copying.Launched("a", {0, 5}, {10, 20}, {1, 7, 0}).Runtime("cudaMemcpy", {10, 25});
  EXPECT_FALSE(help(copying).starts_with("Device work was launched"));
  TestTrace recorded;
  recorded.Launched("a", {0, 5}, {10, 20}, {1, 7, 0}).Sync("Stream Sync", {10, 20}, {2, 7, 0});
  EXPECT_FALSE(help(recorded).starts_with("Device work was launched"));
  TestTrace without_calls;
  without_calls.Op("f", {0, 5}).Kernel("a", {10, 20});
  EXPECT_FALSE(help(without_calls).starts_with("Device work was launched"));
}

// One rank is enough, whichever it is: the page begins with what its first number may be.
TEST(CriticalPathTest, TheCaveatStandsAboveTheNumbers) {
  TestTrace waiting;
  waiting.Launched("a", {0, 5}, {10, 20}, {1, 7, 0}).Runtime("cudaStreamSynchronize", {10, 25});
  TestTrace lacking;
  lacking.Launched("a", {0, 5}, {10, 20}, {1, 7, 0}).Runtime("cudaMemcpyAsync", {40, 5});
  EXPECT_EQ(Analyse("critical-path", {&waiting.View(0)})[0].title,
            "What the critical path is bound by");
  EXPECT_EQ(Analyse("critical-path", {&waiting.View(0), &lacking.View(1)})[0].title,
            "What the critical path is bound by (cpu may hold waits that were not recorded: see "
            "How far waits are known)");
}

TEST(CriticalPathTest, DeviceWorkAlone) {
  TestTrace trace;
  trace.Kernel("a", {0, 10}).Kernel("b", {15, 10});
  EXPECT_EQ(PathOf(trace),
            (Lines{"a operator gpu_compute 10", "b kernel_kernel_delay kernel_kernel_delay 5",
                   "b operator gpu_compute 10"}));
}

// --- clocks ---

// A step in which the device is busy to its end; the kernel seems to end 8 us after the call that
// waits for it, more than the launch allows as a skew.
void PlantDrift(TestTrace& trace) {
  trace.Launched("kernel", {0, 4'000}, {5'000, 903'000}, {.correlation = 1});
  trace.Runtime("cudaDeviceSynchronize", {10'000, 890'000});
  trace.Op("aten::after", {901'000, 99'000});
}

TEST(CriticalPathTest, AWaitForWorkThatSeemsToEndAfterItIsOnThePath) {
  TestTrace trace;
  PlantDrift(trace);
  EXPECT_EQ(PathOf(trace),
            (Lines{"kernel launch_delay launch 5000", "kernel operator gpu_compute 895000",
                   "cudaDeviceSynchronize sync cpu 0", "(between events) dependency cpu 1000",
                   "aten::after operator cpu 99000"}));
  EXPECT_EQ(Csv(TableOf(Ask(trace), "clock_skew"),
                {"gpu", "skew_ns", "lowest_ns", "highest_ns", "inferred_waits", "contradicting"}),
            "gpu,skew_ns,lowest_ns,highest_ns,inferred_waits,contradicting\n0,0,-5000,-,1,1\n");
}

// The same with a clock that is 100 us ahead, and one that is 100 us late: the path is the same.
TEST(CriticalPathTest, ASkewOfTheClockDoesNotChangeThePath) {
  const auto plant = [](TestTrace& trace, int64_t ahead_ns) {
    trace.Op("aten::before", {0, 200'000});
    trace.Launched("first", {200'000, 4'000}, {205'000 + ahead_ns, 300'000}, {.correlation = 1});
    trace.Launched("second", {210'000, 4'000}, {510'000 + ahead_ns, 90'000}, {.correlation = 2});
    trace.Runtime("cudaStreamSynchronize", {220'000, 390'000}, 3);
    trace.Sync("Stream Sync", {220'000 + ahead_ns, 380'000}, {.correlation = 3});
    trace.Op("aten::after", {610'000, 390'000});
  };
  TestTrace exact;
  plant(exact, 0);
  const Lines path = PathOf(exact);
  EXPECT_EQ(path,
            (Lines{"aten::before operator cpu 200000", "first launch_delay launch 5000",
                   "first operator gpu_compute 300000",
                   "second kernel_kernel_delay kernel_kernel_delay 5000",
                   "second operator gpu_compute 90000", "cudaStreamSynchronize sync cpu 10000",
                   "aten::after operator cpu 390000"}));
  TestTrace ahead;
  plant(ahead, 100'000);
  // Of the values that fit, the one nearest 0 is used: the call then returns with the work.
  EXPECT_EQ(Ints(TableOf(Ask(ahead), "clock_skew"), "skew_ns")[0], -90'000);
  TestTrace late;
  plant(late, -100'000);
  EXPECT_EQ(Ints(TableOf(Ask(late), "clock_skew"), "skew_ns")[0], 95'000);
  for (TestTrace* trace : {&ahead, &late}) {
    const Tables tables = Ask(*trace);
    EXPECT_EQ(Ints(TableOf(tables, "critical_path_summary"), "total_ns")[4], 390'000);  // compute
    EXPECT_EQ(Csv(TableOf(tables, "critical_path"), {"name", "bound_by"}),
              Csv(TableOf(Ask(exact), "critical_path"), {"name", "bound_by"}));
    EXPECT_EQ(Ints(TableOf(tables, "sync_quality"), "backward")[0], 0);
  }
}

TEST(CriticalPathTest, ASkewDoesNotMakeTheRecordingLonger) {
  TestTrace trace;
  trace.Launched("kernel", {10'000, 2'000}, {4'000, 20'000}, {.correlation = 1});
  EXPECT_EQ(PathOf(trace),
            (Lines{"(nothing recorded) dependency wait 6000", "kernel launch_delay launch 0",
                   "kernel operator gpu_compute 14000"}));
}

// --- communication ---

// Compute, a collective on its own stream that waits for it, and compute that waits for that. With
// records of the waits between the streams, or without them.
void PlantCollective(TestTrace& trace, bool is_recorded) {
  trace.Launched("forward", {0, 4'000}, {5'000, 200'000}, {.correlation = 1});
  trace.Runtime("cudaEventRecord", {5'000, 1'000}, 2);
  trace.Runtime("cudaStreamWaitEvent", {7'000, 1'000}, 3);
  trace.Launched("ncclDevKernel_AllReduce", {10'000, 4'000}, {210'000, 400'000},
                 {.correlation = 4, .stream = 20});
  trace.Runtime("cudaEventRecord", {15'000, 1'000}, 5);
  trace.Runtime("cudaStreamWaitEvent", {17'000, 1'000}, 6);
  trace.Launched("optimizer", {20'000, 4'000}, {617'000, 100'000}, {.correlation = 7});
  trace.Runtime("cudaDeviceSynchronize", {30'000, 690'000}, 8);
  if (is_recorded) {
    trace.StreamWait({7'500, 1}, {.correlation = 3, .stream = 20}, 7, 2);
    trace.StreamWait({17'500, 1}, {.correlation = 6, .stream = 7}, 20, 5);
    trace.Sync("Context Sync", {30'000, 690'000}, {.correlation = 8, .stream = -1});
  }
}

const char* const kPlantedCollective[] = {
    "forward launch_delay launch 5000", "forward operator gpu_compute 200000",
    "ncclDevKernel_AllReduce operator gpu_communication 400000",
    "optimizer operator gpu_compute 100000", "cudaDeviceSynchronize sync cpu 3000"};

TEST(CriticalPathTest, ACollectiveThatWasWaitedForIsOnThePath) {
  TestTrace trace;
  PlantCollective(trace, true);
  EXPECT_EQ(PathOf(trace), (Lines{kPlantedCollective[0], kPlantedCollective[1],
                                  "ncclDevKernel_AllReduce sync kernel_kernel_delay 5000",
                                  kPlantedCollective[2], "optimizer sync kernel_kernel_delay 7000",
                                  kPlantedCollective[3], kPlantedCollective[4]}));
  const Tables tables = Ask(trace);
  EXPECT_EQ(Ints(TableOf(tables, "sync_quality"), "path_inferred_ns")[0], 0);
  EXPECT_EQ(Floats(TableOf(tables, "sync_quality"), "path_inferred_share")[0], 0);
}

TEST(CriticalPathTest, ACollectiveThatADelayIsSpentOnIsOnThePathByInference) {
  TestTrace trace;
  PlantCollective(trace, false);
  EXPECT_EQ(PathOf(trace),
            (Lines{kPlantedCollective[0], kPlantedCollective[1],
                   "ncclDevKernel_AllReduce kernel_kernel_delay kernel_kernel_delay 5000",
                   kPlantedCollective[2], "optimizer kernel_kernel_delay kernel_kernel_delay 7000",
                   kPlantedCollective[3], kPlantedCollective[4]}));
  const Tables tables = Ask(trace);
  // Two delays, the work before each, and the inferred wait of the host for the last work.
  EXPECT_EQ(Ints(TableOf(tables, "sync_quality"), "path_inferred_ns")[0],
            5'000 + 200'000 + 7'000 + 400'000 + 3'000 + 100'000);
  EXPECT_EQ(Csv(TableOf(tables, "critical_path_summary"), {"bound_by", "total_ns", "inferred_ns"}),
            "bound_by,total_ns,inferred_ns\ncpu,3000,3000\ndata_load,0,0\nlaunch,5000,0\n"
            "kernel_kernel_delay,12000,12000\ngpu_compute,300000,300000\n"
            "gpu_communication,400000,400000\ngpu_memory_copy,0,0\nwait,0,0\n");
}

// Its launch was not recorded, nor was anything on its stream before it.
TEST(CriticalPathTest, AnUnmatchedCollectiveIsOnThePathByInference) {
  TestTrace trace;
  trace.Launched("forward", {0, 4'000}, {5'000, 200'000}, {.correlation = 1});
  trace.Kernel("ncclDevKernel_AllReduce", {210'000, 400'000}, {.stream = 20});
  trace.Launched("optimizer", {20'000, 4'000}, {617'000, 100'000}, {.correlation = 7});
  EXPECT_EQ(PathOf(trace),
            (Lines{kPlantedCollective[0], kPlantedCollective[1],
                   "ncclDevKernel_AllReduce kernel_kernel_delay kernel_kernel_delay 5000",
                   kPlantedCollective[2], "optimizer kernel_kernel_delay kernel_kernel_delay 7000",
                   kPlantedCollective[3]}));
}

// A start is late by no more than is usual, or other work ends within that: nothing is inferred.
TEST(CriticalPathTest, UsualDelaysAreNotInferred) {
  TestTrace trace;
  trace.Kernel("other", {0, 70'000}, {.stream = 20});
  trace.Launched("late", {50'000, 4'000}, {80'000, 100'000}, {.correlation = 1});
  EXPECT_EQ(PathOf(trace).front(), "(nothing recorded) dependency wait 50000");
  TestTrace later;
  later.Kernel("other", {0, 70'001}, {.stream = 20});
  later.Launched("late", {50'000, 4'000}, {80'000, 100'000}, {.correlation = 1});
  EXPECT_EQ(PathOf(later), (Lines{"other operator gpu_compute 70001",
                                  "late kernel_kernel_delay kernel_kernel_delay 9999",
                                  "late operator gpu_compute 100000"}));
}

}  // namespace
}  // namespace borescope::internal
