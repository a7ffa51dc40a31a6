#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

Tables Averages(std::initializer_list<const RankView*> views, bool all = false,
                std::vector<std::string> by = {}) {
  Params params;
  params.compat = Compat::kKeyAverages;
  params.all = all;
  params.by = std::move(by);
  return Analyse("ops", views, params);
}

// linear calls addmm, which launches; linear launches once more itself.
TestTrace& Linear(TestTrace& trace) {
  trace.Annotation("ProfilerStep#3", {0, 200'000}).Op("aten::linear", {10'000, 100'000});
  trace.Op("aten::addmm", {20'000, 60'000},
           {1, kMissing, kMissing, "[[4], [2, 3], [3, 4], [], []]"});
  trace.Launched("gemm", {40'000, 10'000}, {60'000, 50'000}, {1, 7, 0});
  trace.Launched("add", {90'000, 10'000}, {120'000, 20'000}, {2, 7, 0});
  return trace;
}

TEST(KeyAveragesTest, LaunchesAreTimeOfTheOperator) {
  TestTrace trace;
  const Tables tables = Averages({&Linear(trace).View()});
  EXPECT_EQ(Csv(tables[0]),
            "name,self_cpu_percent,self_cpu_us,cpu_total_percent,cpu_total_us,cpu_time_avg_us,"
            "self_cuda_us,self_cuda_percent,cuda_total_us,cuda_time_avg_us,calls,total_flops\n"
            "aten::addmm,30,60,30,60,60,50,71.4286,50,50,1,48\n"
            "aten::linear,20,40,50,100,100,20,28.5714,70,70,1,-\n"
            "ProfilerStep*,50,100,100,200,200,0,0,70,70,1,-\n");
  EXPECT_EQ(Csv(tables[1]), "self_cpu_total_us,self_cuda_total_us\n200,70\n");
}

TEST(KeyAveragesTest, AllListsRuntimeCallsAndDeviceWork) {
  TestTrace trace;
  Linear(trace).DeviceAnnotation("ProfilerStep#3", {60'000, 80'000});
  const Tables tables = Averages({&trace.View()}, true);
  EXPECT_EQ(Csv(tables[0], {"name", "kind", "self_cpu_us", "cpu_total_us", "self_cuda_us",
                            "cuda_total_us", "self_cuda_percent", "calls"}),
            "name,kind,self_cpu_us,cpu_total_us,self_cuda_us,cuda_total_us,self_cuda_percent,"
            "calls\n"
            "ProfilerStep*,CUDA annotation,0,0,80,80,114.286,1\n"
            "aten::addmm,CPU,50,60,50,50,71.4286,1\n"
            "gemm,CUDA,0,0,50,50,71.4286,1\n"
            "add,CUDA,0,0,20,20,28.5714,1\n"
            "aten::linear,CPU,30,100,20,70,28.5714,1\n"
            "ProfilerStep*,CPU annotation,100,200,0,70,0,1\n"
            "cudaLaunchKernel,CPU,20,20,0,0,0,2\n");
  EXPECT_EQ(Csv(tables[1]), "self_cpu_total_us,self_cuda_total_us\n200,70\n");
}

// Frames are not rows, but the time inside them is not that of the event around them.
TEST(KeyAveragesTest, FramesOfPythonReduceSelfTimes) {
  TestTrace trace;
  trace.Annotation("step", {0, 200'000}).Python("train.py(1): work", {10'000, 150'000});
  trace.Op("aten::mm", {20'000, 60'000});
  for (const bool all : {false, true}) {
    EXPECT_EQ(Csv(Averages({&trace.View()}, all)[0], {"name", "self_cpu_us", "cpu_total_us"}),
              "name,self_cpu_us,cpu_total_us\naten::mm,60,60\nstep,50,200\n");
  }
}

// An allocation belongs to any event around it, on whatever thread; begin and end are inside.
TEST(KeyAveragesTest, AllocationsOutsideOfEventsAreARow) {
  TestTrace trace;
  trace.Op("aten::empty", {10'000, 20'000}).Op("aten::is_leaf", {50'000, 20'000});
  for (const int64_t ts_ns : {9'999, 10'000, 20'000, 30'000, 30'001, 60'000}) {
    trace.Memory({.ts_ns = ts_ns, .bytes = 512}, 2);
  }
  for (const bool all : {false, true}) {
    EXPECT_EQ(Csv(Averages({&trace.View()}, all)[0], {"name", "self_cpu_us", "calls"}),
              all ? "name,self_cpu_us,calls\naten::empty,20,1\n[memory],0,3\n"
                  : "name,self_cpu_us,calls\naten::empty,20,1\naten::is_leaf,20,1\n[memory],0,3\n");
  }
}

TEST(KeyAveragesTest, TotalsOfRecursionAddUp) {
  TestTrace trace;
  trace.Op("f", {0, 100}).Op("f", {10, 50}).Op("g", {70, 20});
  EXPECT_EQ(Csv(Averages({&trace.View()})[0], {"name", "self_cpu_us", "cpu_total_us", "calls"}),
            "name,self_cpu_us,cpu_total_us,calls\nf,0.08,0.15,2\ng,0.02,0.02,1\n");
}

// The outer call takes the work of the inner one in place of its own.
TEST(KeyAveragesTest, AllMergesACallWithTheOnlyCallInsideOfItsName) {
  const auto chain = [](TestTrace& trace) -> const RankView& {
    trace.Op("f", {0, 100}, {1}).Op("f", {10, 50}, {2}).Op("f", {20, 30}, {3});
    trace.Op("g", {25, 5}, {4}).Op("h", {30, 5}, {5});
    trace.Kernel("k", {200, 7}).Kernel("k2", {300, 2});
    return trace.View();
  };
  TestTrace plain;
  EXPECT_EQ(Csv(Averages({&chain(plain)})[0], {"name", "self_cpu_us", "cpu_total_us", "calls"}),
            "name,self_cpu_us,cpu_total_us,calls\n"
            "f,0.09,0.18,3\n"
            "g,0.005,0.005,1\n"
            "h,0.005,0.005,1\n");
  TestTrace merged;
  EXPECT_EQ(Csv(Averages({&chain(merged)}, true)[0],
                {"name", "self_cpu_us", "cpu_total_us", "calls", "kind"}),
            "name,self_cpu_us,cpu_total_us,calls,kind\n"
            "k,0,0,1,CUDA\n"
            "k2,0,0,1,CUDA\n"
            "f,0.09,0.1,1,CPU\n"
            "g,0.005,0.005,1,CPU\n"
            "h,0.005,0.005,1,CPU\n");
}

TEST(KeyAveragesTest, AllHidesOperatorsOfTheProfiler) {
  TestTrace trace;
  trace.Op("f", {0, 100}).Op("aten::is_leaf", {10, 50});
  EXPECT_EQ(Csv(Averages({&trace.View()}, true)[0], {"name", "self_cpu_us"}),
            "name,self_cpu_us\nf,0.1\n");
  EXPECT_EQ(Csv(Averages({&trace.View()})[0], {"name", "self_cpu_us"}),
            "name,self_cpu_us\naten::is_leaf,0.05\nf,0.05\n");
}

// Borescope cuts it at the end of the outer call; PyTorch treats it as a neighbour.
TEST(KeyAveragesTest, ACallThatEndsLateLiesBesideTheOther) {
  TestTrace trace;
  trace.Op("f", {0, 50}).Op("g", {40, 30}).Op("h", {45, 2});
  EXPECT_EQ(Csv(Averages({&trace.View()})[0], {"name", "self_cpu_us"}),
            "name,self_cpu_us\nf,0.05\ng,0.028\nh,0.002\n");
}

TEST(KeyAveragesTest, WorkWithoutOperatorCountsInTheFooterAlone) {
  TestTrace trace;
  trace.Op("f", {0, 50}).Launched("k", {10, 5}, {60, 30}, {1, 7, 0}).Kernel("lost", {200, 10});
  const Tables tables = Averages({&trace.View()});
  EXPECT_EQ(Csv(tables[0], {"name", "self_cuda_us", "self_cuda_percent"}),
            "name,self_cuda_us,self_cuda_percent\nf,0.03,75\n");
  EXPECT_EQ(Csv(tables[1]), "self_cpu_total_us,self_cuda_total_us\n0.05,0.04\n");
}

TEST(KeyAveragesTest, ShapesSplitRowsAndRanksMerge) {
  TestTrace a;
  a.Op("mm", {0, 10}, {1, kMissing, kMissing, "[[1]]"}).Op("mm", {20, 30}, {2, 0, 0, "[[2]]"});
  TestTrace b;
  b.Op("mm", {0, 5}, {1, kMissing, kMissing, "[[1]]"});
  EXPECT_EQ(Csv(Averages({&a.View(0), &b.View(1)}, false, {"shape"})[0],
                {"name", "shapes", "calls", "self_cpu_us", "cpu_time_avg_us"}),
            "name,shapes,calls,self_cpu_us,cpu_time_avg_us\n"
            "mm,[[2]],1,0.03,0.03\n"
            "mm,[[1]],2,0.015,0.0075\n");
}

TEST(KeyAveragesTest, NothingIsNoPercentOfNothing) {
  TestTrace trace;
  trace.Op("f", {0, 0});
  EXPECT_EQ(Csv(Averages({&trace.View()})[0], {"name", "self_cpu_percent", "self_cuda_percent"}),
            "name,self_cpu_percent,self_cuda_percent\nf,-,-\n");
}

}  // namespace
}  // namespace borescope::internal
