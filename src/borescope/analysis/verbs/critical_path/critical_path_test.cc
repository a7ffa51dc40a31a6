#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/path/path.h"
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
  lines.reserve(path.rows());
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

// Two kernels, one after the other, and a call that waits for them.
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
            "gpu_memory_copy,0,0\nwait,0,0\nbefore_recording,0,-\n");
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

// The host is done with both steps before the device begins with the first.
TEST(CriticalPathTest, StepsAreFromCompletionToCompletion) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {0, 20}).Annotation("ProfilerStep#2", {20, 20});
  trace.Launched("first", {5, 5}, {50, 100}, {1, 7, 0});
  trace.Launched("second", {25, 5}, {150, 200}, {2, 7, 0});
  const auto device_ns = [&](int64_t step, StepRule rule) {
    Params params;
    params.selection.steps.ranges = {{step, step}};
    params.selection.step_rule = rule;
    const Table summary = TableOf(Ask(trace, params), "critical_path_summary");
    int64_t total_ns = 0;
    for (const int64_t ns : Ints(summary, "total_ns")) {
      total_ns += ns;
    }
    const int64_t compute_ns = Ints(summary, "total_ns")[static_cast<size_t>(BoundBy::kGpuCompute)];
    return std::pair(total_ns, compute_ns);
  };
  EXPECT_EQ(device_ns(1, StepRule::kLaunch), std::pair(int64_t{150}, int64_t{100}));
  EXPECT_EQ(device_ns(2, StepRule::kLaunch), std::pair(int64_t{200}, int64_t{200}));
  EXPECT_EQ(device_ns(2, StepRule::kTime), std::pair(int64_t{20}, int64_t{0}));
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

}  // namespace
}  // namespace borescope::internal
