// Programs with one cause each that has a name, and what the verdict says about it.
#include "borescope/analysis/verbs/summary/named_causes.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kSteps = 3;

Span Us(int64_t ts_us, int64_t dur_us) { return {ts_us * kUs, dur_us * kUs}; }

// A column of the finding of that title; empty if there is none.
std::string OfFinding(const Tables& tables, std::string_view title, std::string_view column) {
  const StringValues& titles = Texts(tables[0], "finding");
  for (size_t row = 0; row < titles.size(); ++row) {
    if (titles[row] == title) {
      return Texts(tables[0], column)[row];
    }
  }
  return "";
}

constexpr std::string_view kSyncTitle = "The device idles after synchronisation";

// Steps of 1000 us with ten kernels. After each of the first `waits` the host reads a number from
// the device, and so cannot launch ahead.
TestTrace LoopWithItems(int64_t waits, bool has_frames) {
  TestTrace trace;
  int64_t correlation = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t begin_us = step * 1000;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(begin_us, 1000));
    if (has_frames) {
      trace.Python("train.py(12): step", Us(begin_us, 999));
    }
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t at_us = begin_us + i * 100;
      trace.Launched("gemm", Us(at_us, 5), Us(at_us + 10, 50), {++correlation});
      if (i < waits) {
        if (has_frames) {
          trace.Python("torch/_tensor.py(990): item", Us(at_us + 6, 58));
        }
        trace.Op("aten::item", Us(at_us + 6, 58))
            .Op("aten::_local_scalar_dense", Us(at_us + 7, 56));
        trace.Runtime("cudaStreamSynchronize", Us(at_us + 8, 53));
      }
    }
  }
  return trace;
}

TEST(NamedCausesTest, WaitsAreNamedByOperatorAndLine) {
  TestTrace trace = LoopWithItems(8, true);
  const Tables tables = Analyse("summary", {&trace.View()});
  const std::string evidence = OfFinding(tables, kSyncTitle, "evidence");
  EXPECT_NE(evidence.find("most after aten::item (cudaStreamSynchronize) in train.py(12): step, 8 "
                          "times a step: "),
            std::string::npos)
      << evidence;
  TestTrace without = LoopWithItems(8, false);
  const std::string plain =
      OfFinding(Analyse("summary", {&without.View()}), kSyncTitle, "evidence");
  EXPECT_NE(plain.find("most after aten::item (cudaStreamSynchronize), 8 times a step: "),
            std::string::npos)
      << plain;
}

// The host waits for work while the next of it is queued: nothing idles, and nothing is said.
TEST(NamedCausesTest, WaitsThatCostNothingAreNotNamed) {
  TestTrace trace;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t begin_us = step * 1000;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(begin_us, 1000));
    for (int64_t i = 0; i < 10; ++i) {
      trace.Launched("gemm", Us(begin_us + i * 5, 4), Us(begin_us + 20 + i * 98, 98),
                     {step * 10 + i + 1});
    }
    trace.Op("aten::item", Us(begin_us + 60, 900));
    trace.Runtime("cudaStreamSynchronize", Us(begin_us + 61, 890));
  }
  const RankView& view = trace.View();
  EXPECT_EQ(OfFinding(Analyse("summary", {&view}), kSyncTitle, "evidence"), "");
  const Result<Table> causes = NamedCausesTable(view, {});
  ASSERT_TRUE(causes.ok());
  for (size_t row = 0; row < causes->rows(); ++row) {
    EXPECT_NE(Texts(*causes, "cause")[row], kNamedWait);
  }
}

// Many short kernels with gaps, launched one by one or by graphs.
std::string AdviceOf(std::string_view launch, std::string_view title) {
  TestTrace trace;
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t correlation = launch == "cudaGraphLaunch" ? 1 + i / 20 : i + 1;
    if (correlation == i + 1 || i % 20 == 0) {
      trace.Runtime(launch, Us(i / 20 * 20 + (correlation == i + 1 ? i : 0), 1), correlation);
    }
    trace.Kernel("add", Us(200 + i * 10, 6), {correlation});
  }
  return OfFinding(Analyse("summary", {&trace.View()}), title, "help");
}

TEST(NamedCausesTest, GraphsAreNoAdviceForGraphs) {
  constexpr std::string_view kGaps = "The device idles between work already launched";
  for (const std::string_view title : {kGaps, std::string_view("Many short kernels")}) {
    const std::string one_by_one = AdviceOf("cudaLaunchKernel", title);
    EXPECT_TRUE(one_by_one.find("CUDA graphs") != std::string::npos ||
                one_by_one.find("HIP graphs") != std::string::npos)
        << one_by_one;
    const std::string by_graphs = AdviceOf("cudaGraphLaunch", title);
    EXPECT_NE(by_graphs, "");
    EXPECT_EQ(by_graphs.find("CUDA"), std::string::npos) << by_graphs;
  }
}

constexpr std::string_view kOptimizerTitle = "The optimizer launches for each parameter by itself";

// Three steps of a short kernel and an optimizer with as many launches, of its own or grouped.
std::string OptimizerFinding(int64_t launches, std::string_view op) {
  TestTrace trace;
  int64_t correlation = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t begin_us = step * 10'000;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(begin_us, 10'000));
    trace.Launched("gemm", Us(begin_us + 1, 5), Us(begin_us + 10, 500), {++correlation});
    trace.Annotation("Optimizer.step#SGD.step", Us(begin_us + 600, 20 * launches + 100));
    for (int64_t i = 0; i < launches; ++i) {
      const int64_t at_us = begin_us + 610 + i * 20;
      trace.Op(op, Us(at_us, 15));
      trace.Launched("update", Us(at_us + 2, 5), Us(at_us + 9, 2), {++correlation});
    }
  }
  return OfFinding(Analyse("summary", {&trace.View()}), kOptimizerTitle, "evidence");
}

TEST(NamedCausesTest, AnOptimizerThatLaunchesForEachParameter) {
  const std::string evidence = OptimizerFinding(200, "aten::addcdiv_");
  EXPECT_TRUE(evidence.starts_with("SGD.step: 600 launches (200 a step), 99.5 % of all"))
      << evidence;
  EXPECT_EQ(OptimizerFinding(200, "aten::_foreach_addcdiv_"), "");
  EXPECT_EQ(OptimizerFinding(20, "aten::addcdiv_"), "");
}

constexpr std::string_view kAllocationTitle = "Memory is allocated and freed in the steps";

// Steps in which the host allocates for `call_us`, while the device has work for `work_us`.
std::string AllocationFinding(std::string_view call, int64_t call_us, int64_t work_us) {
  TestTrace trace;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t begin_us = step * 1000;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(begin_us, 1000));
    trace.Launched("gemm", Us(begin_us + 1, 5), Us(begin_us + 10, work_us), {step + 1});
    trace.Runtime(call, Us(begin_us + 20, call_us));
  }
  return OfFinding(Analyse("summary", {&trace.View()}), kAllocationTitle, "evidence");
}

TEST(NamedCausesTest, AllocationThatDevicesWaitFor) {
  EXPECT_TRUE(
      AllocationFinding("cudaMalloc", 900, 100)
          .starts_with("2.7 ms of 3.0 ms (90.0 %) of the steps, in 3 calls (1 a step), most in "
                       "cudaMalloc"));
  EXPECT_EQ(AllocationFinding("cudaMalloc", 900, 980), "");       // the device works meanwhile
  EXPECT_EQ(AllocationFinding("cudaMallocAsync", 900, 100), "");  // reuses memory
}

// Without the calls a step is not shorter than its work on the device.
TEST(NamedCausesTest, AllocationCostsNoMoreThanTheIdleTime) {
  const std::string evidence = AllocationFinding("cudaMalloc", 900, 500);
  EXPECT_NE(evidence.find("2.7 ms of 3.0 ms (90.0 %) of the steps, in 3 calls"), std::string::npos)
      << evidence;
  EXPECT_NE(evidence.find("(50.0 %) in all, which is the most that can be won"), std::string::npos)
      << evidence;
}

TEST(NamedCausesTest, AllocationInOneStepOfMany) {
  TestTrace trace;
  constexpr int64_t kMany = 6;
  for (int64_t step = 0; step < kMany; ++step) {
    const int64_t begin_us = step * 1000;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(begin_us, 1000));
    trace.Launched("gemm", Us(begin_us + 1, 5), Us(begin_us + 10, 100), {step + 1});
    if (step == 0) {
      trace.Runtime("cudaMalloc", Us(begin_us + 120, 800));
    }
  }
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(OfFinding(tables, kAllocationTitle, "evidence"), "");
  const std::string evidence = OfFinding(tables, "One step allocates memory", "evidence");
  EXPECT_NE(evidence.find("in 1 call, 100.0 % of it in one of 6 steps, most in cudaMalloc"),
            std::string::npos)
      << evidence;
}

constexpr std::string_view kSilentTitle = "The host does something that was not recorded";

// Steps of 200 ms whose host is silent for `silent_us` of them, but for an operator, or within a
// range around others.
Tables SilentSteps(int64_t silent_us, std::string_view recorded, std::string_view range = {}) {
  TestTrace trace;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t begin_us = step * 200'000;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(begin_us, 200'000));
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t at_us = begin_us + i * (200'000 - silent_us) / 10;
      trace.Op("aten::mm", Us(at_us, (200'000 - silent_us) / 10 - 10));
      trace.Launched("gemm", Us(at_us + 1, 5), Us(at_us + 10, (200'000 - silent_us) / 10 - 20),
                     {step * 10 + i + 1});
    }
    if (!recorded.empty()) {
      trace.Op(recorded, Us(begin_us + 200'000 - silent_us, silent_us - 10));
    }
    if (!range.empty()) {
      trace.Annotation(range, Us(begin_us + 200'000 - silent_us, silent_us - 10));
      trace.Annotation("within it", Us(begin_us + 200'000 - silent_us + 1, 5));
    }
  }
  return Analyse("summary", {&trace.View()});
}

std::string SilentFinding(int64_t silent_us, std::string_view recorded) {
  return OfFinding(SilentSteps(silent_us, recorded), kSilentTitle, "evidence");
}

TEST(NamedCausesTest, TimesInWhichTheHostRecordsNothing) {
  const std::string evidence = SilentFinding(120'000, "");
  EXPECT_NE(evidence.find("pauses of 50 ms or more"), std::string::npos) << evidence;
  EXPECT_EQ(SilentFinding(40'000, ""), "");             // shorter
  EXPECT_EQ(SilentFinding(120'000, "my::encode"), "");  // recorded
}

// Requests of a server, with pauses of `pause_us` between them in which nothing is recorded, or all
// of it lies within a range.
Tables Requests(int64_t requests, int64_t pause_us, std::string_view around = {}) {
  TestTrace trace;
  int64_t now_us = 0;
  for (int64_t i = 0; i < requests; ++i) {
    trace.Annotation("generate", Us(now_us, 3000));
    trace.Op("aten::mm", Us(now_us + 1, 20));
    trace.Launched("gemm", Us(now_us + 5, 5), Us(now_us + 20, 2900), {.correlation = i + 1});
    trace.Runtime("cudaStreamSynchronize", Us(now_us + 100, 2850));
    now_us += 3000 + pause_us + 100 * (i % 3);
  }
  if (!around.empty()) trace.Annotation(around, Us(0, now_us));
  return Analyse("summary", {&trace.View()});
}

constexpr std::string_view kNothingTitle = "The device idles while nothing was recorded";

// Nothing shows that the host was busy, or that a wait for the device made it late.
TEST(NamedCausesTest, PausesBetweenRequestsAreNoBusyHost) {
  const Tables tables = Requests(20, 5000);
  // 19 pauses of 5.0, 5.1 or 5.2 ms, and the 50 us before each that the request still takes are
  // not of it.
  const std::string evidence = OfFinding(tables, kNothingTitle, "evidence");
  EXPECT_NE(evidence.find("idle 96.8 ms of "), std::string::npos) << evidence;
  EXPECT_NE(evidence.find("in 19 pauses of 1 ms or more"), std::string::npos) << evidence;
  EXPECT_NE(evidence.find("most before generate"), std::string::npos) << evidence;
  EXPECT_EQ(OfFinding(tables, "The device idles while the host is busy", "evidence"), "");
  EXPECT_EQ(OfFinding(tables, "The device idles after synchronisation", "evidence"), "");
}

TEST(NamedCausesTest, WhatIsRecordedIsNotNothing) {
  EXPECT_EQ(OfFinding(Requests(20, 5000, "serve"), kNothingTitle, "evidence"), "");
  EXPECT_EQ(OfFinding(Requests(20, 600), kNothingTitle, "evidence"), "");  // between two calls
  EXPECT_EQ(OfFinding(Requests(4, 5000), kNothingTitle, "evidence"), "");  // a few
}

// The passes of XLA record little of themselves: that is no garbage collection.
TEST(NamedCausesTest, CompilersAreNoGarbageCollection) {
  const Tables tables = SilentSteps(120'000, "", "TSL:XlaPass:#name=config-assigner#");
  const std::string help = OfFinding(tables, "The device waits for a compiler", "help");
  EXPECT_NE(help.find("XLA compiles the program"), std::string::npos) << help;
  EXPECT_EQ(help.find("gc."), std::string::npos) << help;
  EXPECT_EQ(OfFinding(tables, kSilentTitle, "help"), "");
  EXPECT_NE(OfFinding(SilentSteps(120'000, "", "my range"), kSilentTitle, "help"), "");
}

}  // namespace
}  // namespace borescope::internal
