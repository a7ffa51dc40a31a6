// HTA's critical path on traces without positions; HTA's own numbers are in golden tests.
#include "borescope/packs/hta/critical_path/critical_path.h"

#include <gtest/gtest.h>

#include "borescope/packs/hta/hta.h"
#include "borescope/packs/hta/views/hta_testing.h"

namespace borescope::internal {
namespace {

// An operator that launches a kernel, a wait for it, and another operator.
TestTrace Waiting() {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 100));
  trace.Op("aten::mm", Us(10, 30));
  trace.Launched("gemm", Us(20, 5), Us(40, 30), {1, 7, 0});
  trace.Runtime("cudaDeviceSynchronize", Us(45, 30), 2);
  trace.Sync("Context Sync", Us(46, 28), {2, -1, 0});
  trace.Op("aten::add", Us(80, 10));
  return trace;
}

Tables Answer(TestTrace& trace, Params params = Hta()) {
  return Analyse("critical-path", {&trace.View()}, params);
}

TEST(HtaCriticalPathTest, AWaitLeadsFromTheKernelToTheEndOfTheCall) {
  TestTrace trace = Waiting();
  const Tables findings = Answer(trace);
  EXPECT_EQ(Csv(findings[0], {"name", "kind", "bound_by", "begin_us", "duration_us"}),
            "name,kind,bound_by,begin_us,duration_us\n"
            "aten::mm,operator,cpu_bound,10,10\n"
            "-,launch_delay,gpu_kernel_launch_overhead,20,20\n"
            "gemm,operator,gpu_compute_bound,40,30\n"
            "-,sync,-,70,0\n"
            "-,dependency,-,75,0\n"
            "aten::add,operator,cpu_bound,80,10\n");
  EXPECT_EQ(Csv(findings[2], {"from_name", "to_name", "kind"}),
            "from_name,to_name,kind\ngemm,cudaDeviceSynchronize,call\n");
}

TEST(HtaCriticalPathTest, TheWindowOfAnAnnotation) {
  TestTrace trace = Waiting();
  Params params = Hta();
  params.selection.annotation = "aten::";
  params.selection.instances = NumberRanges::Parse("0").value();
  EXPECT_EQ(Csv(Answer(trace, params)[3], {"events", "nodes", "edges", "length_us"}),
            "events,nodes,edges,length_us\n3,6,5,60\n");
}

Error ErrorOf(TestTrace& trace, const Params& params) {
  return MapHtaCriticalPath(trace.View(), params).error();
}

TEST(HtaCriticalPathTest, WhatIsNotThereIsAnError) {
  TestTrace trace = Waiting();
  Params params = Hta();
  params.selection.annotation = "ProfilerStep";
  params.selection.instances = NumberRanges::Parse("1").value();
  EXPECT_EQ(ErrorOf(trace, params).code, ErrorCode::kMissingData);
  params.selection.instances = NumberRanges::Parse("0,2").value();
  EXPECT_EQ(ErrorOf(trace, params).code, ErrorCode::kInvalidArgument);
  params.selection.annotation = "nobody";
  params.selection.instances = {};
  EXPECT_EQ(ErrorOf(trace, params).code, ErrorCode::kMissingData);
}

TEST(HtaCriticalPathTest, NothingHasNoPath) {
  TestTrace trace;
  trace.Annotation("a", Us(0, 1));
  const Tables findings = Answer(trace);
  EXPECT_EQ(findings[0].rows(), 0u);
  EXPECT_EQ(Csv(findings[3], {"events", "nodes", "path_nodes", "length_us"}),
            "events,nodes,path_nodes,length_us\n1,0,0,0\n");
}

TEST(HtaCriticalPathTest, OverlappingLocksSerialise) {
  TestTrace trace;
  trace.Runtime("cudaHostAlloc", Us(0, 20), kMissing, 1);
  trace.Runtime("cudaHostAlloc", Us(5, 30), kMissing, 2);
  const Tables findings = Answer(trace);
  EXPECT_EQ(Csv(findings[4], {"kind", "edges", "weight_us", "path_us"}),
            "kind,edges,weight_us,path_us\noperator,1,20,20\ndependency,2,0,0\n"
            "launch_delay,0,0,0\nkernel_kernel_delay,0,0,0\nsync,0,0,0\n");
}

TEST(HtaCriticalPathTest, HostileTimesAndNumbers) {
  TestTrace trace;
  for (int64_t i = 0; i < 200; ++i) {
    trace.Op("op", {i * 500, 100'000 - i * 700 % 900});
    trace.Runtime("cudaLaunchKernel", {i * 300, 400}, i % 3);
    trace.Kernel("k", {i * 100, 250}, {i % 3, i % 2, 0});
  }
  const Tables findings = Answer(trace);
  EXPECT_EQ(findings.size(), 5u);
}

// HTA would add an edge for each pair.
TEST(HtaCriticalPathTest, ManyStreamsAndManyWaitsForAllOfThemAreRefused) {
  constexpr int64_t kMany = 1100;
  TestTrace trace;
  for (int64_t i = 0; i < kMany; ++i) {
    trace.Launched("k", Us(2 * i, 1), Us(2 * i + 1, 1), {i, i, 0});
    trace.Runtime("cudaDeviceSynchronize", Us(2 * (kMany + i), 1), kMany + i);
    trace.Sync("Context Sync", Us(2 * (kMany + i), 1), {kMany + i, -1, 0});
  }
  EXPECT_EQ(ErrorOf(trace, Hta()).code, ErrorCode::kMissingData);
}

TEST(HtaCriticalPathTest, AllArrowsNeedAllEvents) {
  TestTrace trace = Waiting();
  Params params = Hta();
  params.values = {{"overlay-all-edges", 1, ""}};
  EXPECT_EQ(OverlayHtaCriticalPath(trace.View(), params).error().code, ErrorCode::kInvalidArgument);
}

TEST(HtaCriticalPathTest, TheOverlayMarksThePath) {
  TestTrace trace = Waiting();
  const Overlay overlay = OverlayHtaCriticalPath(trace.View(), Hta()).value();
  EXPECT_TRUE(overlay.marks.only_critical);
  EXPECT_EQ(overlay.marks.critical.size(), 5u);
  ASSERT_EQ(overlay.arrows.arrows.size(), 3u);
  const OverlayArrow& launch = overlay.arrows.arrows[0];
  EXPECT_EQ(overlay.arrows.types[launch.type], "critical_path_kernel_launch_delay");
  EXPECT_EQ(launch.weight_us, 20);
  EXPECT_EQ(launch.from.ts_ns, 20'000);
  EXPECT_EQ(launch.to.tid, 7);
  // The end of a kernel is drawn inside of the kernel.
  EXPECT_EQ(overlay.arrows.arrows[1].from.ts_ns, 69'000);
  EXPECT_EQ(overlay.arrows.arrows[1].to.ts_ns, 75'000);
}

}  // namespace
}  // namespace borescope::internal
