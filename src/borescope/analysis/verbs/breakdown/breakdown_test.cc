#include <gtest/gtest.h>

#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";

// compute [100,200), comm [150,300), copy [280,350) on three streams; host [0,500).
TestTrace Overlapping() {
  TestTrace trace;
  trace.Op("aten::mm", {0, 500});
  trace.Kernel("gemm", {100, 100}, {1, 7, 0});
  trace.Kernel(kNccl, {150, 150}, {2, 20, 0});
  trace.Memcpy("Memcpy HtoD (Pinned -> Device)", {280, 70}, {3, 24, 0});
  return trace;
}

TEST(BreakdownTest, PartsAddUpToTheSpan) {
  TestTrace trace = Overlapping();
  EXPECT_EQ(Csv(Analyse("breakdown", {&trace.View()})[0]),
            "rank,gpu,span_ns,busy_ns,compute_ns,exposed_comm_ns,exposed_copy_ns,idle_ns,comm_ns,"
            "copy_ns,head_idle_ns,tail_idle_ns,inherited_ns,busy_share\n"
            "0,0,500,250,100,100,50,250,150,70,100,150,0,0.5\n");
}

TEST(BreakdownTest, ByStreamUsesTheSameWindow) {
  TestTrace trace = Overlapping();
  Params params;
  params.by = {"stream"};
  EXPECT_EQ(Csv(Analyse("breakdown", {&trace.View()}, params)[0],
                {"stream", "span_ns", "busy_ns", "exposed_comm_ns", "idle_ns"}),
            "stream,span_ns,busy_ns,exposed_comm_ns,idle_ns\n"
            "7,500,100,0,400\n20,500,150,150,350\n24,500,70,0,430\n");
}

TEST(BreakdownTest, WindowsClipAndGapsBetweenThemDoNotCount) {
  TestTrace trace = Overlapping();
  trace.Annotation("part", {50, 100}).Annotation("part", {290, 20}).Annotation("part", {400, 10});
  Params params;
  params.selection.annotation = "part";
  params.selection.instances = NumberRanges::Parse("0..1").value();
  EXPECT_EQ(Csv(Analyse("breakdown", {&trace.View()}, params)[0],
                {"span_ns", "compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns",
                 "head_idle_ns", "tail_idle_ns"}),
            "span_ns,compute_ns,exposed_comm_ns,exposed_copy_ns,idle_ns,head_idle_ns,tail_idle_ns\n"
            "120,50,10,10,50,50,0\n");
}

TEST(BreakdownTest, OneRowPerStepAndGpu) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#3", {0, 100}).Annotation("ProfilerStep#4", {100, 50});
  trace.Kernel("a", {90, 20}, {1, 7, 0}).Kernel("b", {120, 10}, {2, 7, 1});
  Params params;
  params.by = {"step"};
  params.selection.step_rule = StepRule::kTime;
  EXPECT_EQ(
      Csv(Analyse("breakdown", {&trace.View()}, params)[0], {"step", "gpu", "span_ns", "busy_ns"}),
      "step,gpu,span_ns,busy_ns\n3,0,100,10\n3,1,100,0\n4,0,50,10\n4,1,50,10\n");
}

// The words of the key say so.
TEST(BreakdownTest, TimeInNoStepHasARow) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 150}).Annotation("ProfilerStep#3", {0, 100}).Kernel("k", {90, 20});
  const RankView& view = trace.View();
  Params params;
  params.by = {"step"};
  params.selection.step_rule = StepRule::kTime;
  const Table table = std::move(Analyse("breakdown", {&view}, params)[0]);
  EXPECT_EQ(Csv(table, {"step", "busy_ns"}), "step,busy_ns\n3,10\n-,10\n");
  EXPECT_EQ(table.Find("step")->doc, "Number of the step; missing for what is in no step.");
}

// Two threads record a step, and a third one begins within it.
TEST(BreakdownTest, StepsThatOverlapShareNoTime) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {0, 100}).Annotation("ProfilerStep#1", {5, 80}, 2);
  trace.Annotation("ProfilerStep#2", {60, 20}, 3).Op("aten::mm", {0, 120});
  trace.Kernel("k", {50, 20}, {1, 7, 0});
  const RankView& view = trace.View();
  Params params;
  params.by = {"step"};
  params.selection.step_rule = StepRule::kTime;
  EXPECT_EQ(Csv(Analyse("breakdown", {&view}, params)[0], {"step", "span_ns", "busy_ns"}),
            "step,span_ns,busy_ns\n1,80,10\n2,20,10\n-,20,0\n");
  EXPECT_EQ(Csv(Analyse("steps", {&view}, params)[0], {"step", "begin_ns", "span_ns", "busy_ns"}),
            "step,begin_ns,span_ns,busy_ns\n1,0,80,10\n2,60,20,10\n-,-,-,0\n");
  params.selection.steps = NumberRanges::Parse("1").value();
  EXPECT_EQ(Csv(Analyse("breakdown", {&view}, params)[0], {"step", "span_ns", "busy_ns"}),
            "step,span_ns,busy_ns\n1,100,20\n");
}

TEST(BreakdownTest, TooManyRowsAreAnError) {
  TestTrace trace;
  for (int64_t i = 0; i < 1500; ++i) {
    trace.Annotation("ProfilerStep#" + std::to_string(i), {10 * i, 10});
    trace.Kernel("k", {i, 1}, {i, i, 0});
  }
  const RankView& view = trace.View();
  Params params;
  params.by = {"step", "stream"};
  params.selection.step_rule = StepRule::kTime;
  const auto outcome = FindAnalysis("breakdown")->PipelineFor(params).map(view, params);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(outcome.error().Sentence(),
            "test.json: 1500 steps on each of 1500 devices or streams are more than 2000000 rows; "
            "choose some with `step`, `gpu` or `stream`");
  params.selection.steps = NumberRanges::Parse("0..9").value();
  EXPECT_TRUE(FindAnalysis("breakdown")->PipelineFor(params).map(view, params).ok());
}

TEST(BreakdownTest, WaitsAndAnnotationsOfTheDeviceAreNoWork) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}).Kernel("k", {10, 10});
  trace.DeviceAnnotation("region", {0, 90}).Sync("Context Sync", {0, 95}, {9, 7, 0});
  EXPECT_EQ(Csv(Analyse("breakdown", {&trace.View()})[0], {"busy_ns", "idle_ns"}),
            "busy_ns,idle_ns\n10,90\n");
}

TEST(BreakdownTest, ARankWithoutDeviceWorkIsIdle) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100});
  EXPECT_EQ(Csv(Analyse("breakdown", {&trace.View(3)})[0], {"rank", "gpu", "span_ns", "idle_ns"}),
            "rank,gpu,span_ns,idle_ns\n3,-,100,100\n");
}

TEST(BreakdownTest, UnknownStepsAndAnnotationsAreErrors) {
  TestTrace trace = Overlapping();
  const RankView& view = trace.View();
  Params params;
  params.selection.steps = NumberRanges::Parse("7").value();
  const AnalysisSpec* spec = FindAnalysis("breakdown");
  EXPECT_EQ(spec->PipelineFor(params).map(view, params).error().code, ErrorCode::kMissingData);
  params = {};
  params.selection.annotation = "absent";
  EXPECT_EQ(
      spec->PipelineFor(params).map(view, params).error().Sentence(),
      "test.json: no host annotation \"absent\"; borescope annotations lists those there are");
}

TEST(BreakdownTest, SpreadOverTheRanks) {
  TestTrace a;
  TestTrace b;
  TestTrace c;
  a.Op("f", {0, 1000}).Kernel("gemm", {0, 300}).Kernel(kNccl, {300, 500}, {2, 20, 0});
  b.Op("f", {0, 1000}).Kernel("gemm", {0, 600}).Kernel(kNccl, {600, 200}, {2, 20, 0});
  c.Op("f", {0, 1000}).Kernel("gemm", {0, 300}).Kernel(kNccl, {300, 500}, {2, 20, 0});
  const RankView& first = a.View(2);
  const RankView& second = b.View(5);
  const Tables tables = Analyse("breakdown", {&c.View(9), &first, &second});
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(Csv(tables[1]),
            "metric,mean_ns,min_ns,min_rank,max_ns,max_rank,stddev_ns,imbalance\n"
            "span,1000,1000,2,1000,2,0,1\nbusy,800,800,2,800,2,0,1\n"
            "compute,400,300,2,600,5,173.205,1.5\nexposed_comm,400,200,5,500,2,173.205,1.25\n"
            "exposed_copy,0,0,2,0,2,0,-\nidle,200,200,2,200,2,0,1\n"
            "comm,400,200,5,500,2,173.205,1.25\ncopy,0,0,2,0,2,0,-\n");
  Params params;
  params.by = {"stream"};
  EXPECT_EQ(Analyse("breakdown", {&first, &second}, params).size(), 1U);
}

// Several GPUs of one process are no ranks.
TEST(BreakdownTest, OneRankHasNoSpread) {
  TestTrace trace;
  trace.Kernel("a", {0, 10}, {1, 7, 0}).Kernel("b", {0, 30}, {2, 7, 1});
  EXPECT_EQ(Analyse("breakdown", {&trace.View()}).size(), 1U);
}

// Each instant belongs to the step of the work that runs, of several the first, or else to the step
// of the work that runs next.
TEST(BreakdownTest, DeviceTimeBelongsToTheStepThatLaunchedTheWork) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#3", {0, 100}).Annotation("ProfilerStep#4", {100, 50});
  trace.Launched("a", {10, 5}, {110, 40}, {1, 7, 0}).Launched("b", {120, 5}, {140, 40}, {2, 8, 0});
  trace.Launched("c", {130, 5}, {200, 10}, {3, 8, 0}).Kernel("no launch", {230, 10}, {99, 7, 0});
  trace.Op("all", {0, 300});
  const RankView& view = trace.View();
  Params params;
  params.by = {"step"};
  EXPECT_EQ(
      Csv(Analyse("breakdown", {&view}, params)[0], {"step", "span_ns", "busy_ns", "idle_ns"}),
      "step,span_ns,busy_ns,idle_ns\n3,150,40,110\n4,60,40,20\n-,90,10,80\n");
  params.by = {};
  params.selection.steps = NumberRanges::Parse("4").value();
  EXPECT_EQ(Csv(Analyse("breakdown", {&view}, params)[0], {"span_ns", "busy_ns", "idle_ns"}),
            "span_ns,busy_ns,idle_ns\n60,40,20\n");
}

TEST(StepsTest, AStepHasTheWorkItLaunchedWhereverItRuns) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#0", {1000, 100}).Annotation("ProfilerStep#1", {1100, 100});
  trace.Launched("a", {1010, 5}, {1090, 30}, {1, 7, 0})
      .Launched("b", {1110, 5}, {1110, 0}, {2, 8, 0});
  trace.Launched("c", {1150, 5}, {1100, 50}, {3, 8, 0});
  EXPECT_EQ(
      Csv(Analyse("steps", {&trace.View()})[0]),
      "rank,gpu,step,begin_ns,span_ns,length_ns,busy_ns,idle_ns,kernels,copies,device_begin_ns,"
      "device_end_ns,device_span_ns,shared_ns,waiting_ns,end_ns,name\n"
      "0,0,0,1000,100,170,30,0,1,0,1090,1120,30,0,140,1170,ProfilerStep#0\n"
      "0,0,1,1100,100,30,50,0,2,0,1100,1150,50,20,0,1200,ProfilerStep#1\n");
}

TEST(StepsTest, WorkInNoStepHasRows) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#0", {0, 100});
  trace.Launched("in the step", {10, 5}, {20, 10}, {1, 7, 0});
  trace.Launched("after it", {110, 5}, {120, 10}, {2, 7, 0});
  trace.Kernel("unknown", {50, 10}, {99, 7, 0});
  const RankView& view = trace.View();
  EXPECT_EQ(Csv(Analyse("steps", {&view})[0], {"gpu", "step", "busy_ns", "kernels", "name"}),
            "gpu,step,busy_ns,kernels,name\n0,0,10,1,ProfilerStep#0\n0,-,10,1,(no step)\n"
            "0,-,10,1,(no launch)\n");
  Params params;
  params.selection.steps = NumberRanges::Parse("0").value();
  EXPECT_EQ(
      Csv(Analyse("steps", {&view}, params)[0], {"gpu", "step", "busy_ns", "kernels", "name"}),
      "gpu,step,busy_ns,kernels,name\n0,0,10,1,ProfilerStep#0\n");
}

TEST(StepsTest, WithoutADeviceNothingIsIdle) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#0", {0, 100});
  EXPECT_EQ(Csv(Analyse("steps", {&trace.View()})[0],
                {"gpu", "step", "span_ns", "busy_ns", "idle_ns", "device_span_ns", "kernels"}),
            "gpu,step,span_ns,busy_ns,idle_ns,device_span_ns,kernels\n-,0,100,-,-,-,0\n");
}

TEST(StepsTest, ByTimeLateWorkCountsWhereItRuns) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#0", {1000, 100}).Annotation("ProfilerStep#1", {1100, 100});
  trace.Launched("a", {1010, 5}, {1090, 30}, {1, 7, 0}).Op("all", {1000, 210});
  Params params;
  params.selection.step_rule = StepRule::kTime;
  EXPECT_EQ(
      Csv(Analyse("steps", {&trace.View()}, params)[0],
          {"step", "begin_ns", "span_ns", "busy_ns", "idle_ns", "kernels", "device_begin_ns",
           "device_end_ns", "shared_ns"}),
      "step,begin_ns,span_ns,busy_ns,idle_ns,kernels,device_begin_ns,device_end_ns,shared_ns\n"
      "0,1000,100,10,90,1,1000,1100,0\n1,1100,100,20,80,0,1100,1200,0\n"
      "-,-,-,0,10,0,1200,1210,0\n");
}

// A row never speaks of more streams, or of more time, in one column than in another.
TEST(StepsTest, KernelsAreThoseOfTheSelection) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#0", {1000, 100}).Annotation("part", {1000, 40});
  trace.Launched("a", {1010, 5}, {1020, 10}, {1, 7, 0});
  trace.Launched("b", {1020, 5}, {1030, 20}, {2, 9, 0});
  trace.Launched("c", {1050, 5}, {1060, 10}, {3, 7, 0});
  const RankView& view = trace.View();
  Params params;
  params.selection.streams = NumberRanges::Parse("7").value();
  EXPECT_EQ(Csv(Analyse("steps", {&view}, params)[0], {"gpu", "span_ns", "busy_ns", "kernels"}),
            "gpu,span_ns,busy_ns,kernels\n0,100,20,2\n");
  params.selection.annotation = "part";
  EXPECT_EQ(Csv(Analyse("steps", {&view}, params)[0], {"gpu", "span_ns", "busy_ns", "kernels"}),
            "gpu,span_ns,busy_ns,kernels\n0,40,10,1\n");
}

}  // namespace
}  // namespace borescope::internal
