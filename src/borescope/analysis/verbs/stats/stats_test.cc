#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/verbs/stats/stats_reports.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

Params Report(std::string_view reports) {
  Params params;
  params.values.push_back({kReportParam.name, 1, std::string(reports)});
  return params;
}

std::string ReportOf(std::string_view report, std::initializer_list<const RankView*> views,
                     std::initializer_list<std::string_view> columns = {}) {
  return Csv(Analyse("stats", views, Report(report))[0], columns);
}

// Two ranges, one in the other; a graph launch with two kernels; a kernel without its launch.
TestTrace Program() {
  TestTrace trace;
  trace.Annotation("outer", {0, 1000}).Annotation("inner", {100, 200});
  trace.Launched("gemm", {110, 10}, {200, 30}, {1, 7, 0});
  trace.Launched("gemm", {150, 20}, {160, 50}, {2, 7, 0});  // starts before its call returns
  trace.Runtime("cudaGraphLaunch", {400, 50}, 3);
  trace.Kernel("node", {500, 10}, {3, 7, 0}).Kernel("gemm", {520, 100}, {3, 7, 0});
  trace.Kernel("unlinked", {900, 5}, {99, 9, 1});
  trace.Memcpy("Memcpy HtoD (Pinned -> Device)", {700, 40}, {98, 7, 0}, 8'000'000);
  trace.Memcpy("CopyHostToDevice", {750, 20}, {97, 7, 0});
  trace.Memset({800, 10}, {96, 7, 0}, 500'000);
  return trace;
}

TEST(StatsTest, KernelsByName) {
  TestTrace trace = Program();
  EXPECT_EQ(ReportOf("cuda_gpu_kern_sum", {&trace.View()}),
            "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),"
            "Name\n"
            "92.3077,180,3,60,50,30,100,36.0555,gemm\n"
            "5.12821,10,1,10,10,10,10,0,node\n"
            "2.5641,5,1,5,5,5,5,0,unlinked\n");
}

TEST(StatsTest, MedianIsThatOfAllRanksTogether) {
  TestTrace a;
  a.Kernel("k", {0, 10}).Kernel("k", {20, 10}).Kernel("k", {40, 30});
  TestTrace b;
  b.Kernel("k", {0, 20}).Kernel("k", {30, 50}).Kernel("k", {90, 70});
  EXPECT_EQ(ReportOf("cuda_gpu_kern_sum", {&a.View(0), &b.View(1)},
                     {"Total Time (ns)", "Instances", "Med (ns)", "StdDev (ns)"}),
            "Total Time (ns),Instances,Med (ns),StdDev (ns)\n190,6,25,24.0139\n");
}

TEST(StatsTest, CallsOfTheRuntime) {
  TestTrace trace = Program();
  trace.Op("aten::mm", {100, 100});  // an operator is no call
  EXPECT_EQ(ReportOf("cuda_api_sum", {&trace.View()},
                     {"Time (%)", "Total Time (ns)", "Num Calls", "Med (ns)", "Name"}),
            "Time (%),Total Time (ns),Num Calls,Med (ns),Name\n"
            "62.5,50,1,50,cudaGraphLaunch\n"
            "37.5,30,2,15,cudaLaunchKernel\n");
}

TEST(StatsTest, Copies) {
  TestTrace trace = Program();
  EXPECT_EQ(ReportOf("cuda_gpu_mem_time_sum", {&trace.View()},
                     {"Total Time (ns)", "Count", "Med (ns)", "Operation"}),
            "Total Time (ns),Count,Med (ns),Operation\n"
            "60,2,30,[CUDA memcpy Host-to-Device]\n"
            "10,1,10,[CUDA memset]\n");
  EXPECT_EQ(ReportOf("cuda_gpu_mem_size_sum", {&trace.View()}),
            "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n"
            "8,1,8,8,8,8,0,[CUDA memcpy Host-to-Device]\n"
            "0.5,1,0.5,0.5,0.5,0.5,0,[CUDA memset]\n");
}

TEST(StatsTest, KernelsFromCallToEnd) {
  TestTrace trace = Program();
  EXPECT_EQ(ReportOf("cuda_kern_exec_sum", {&trace.View()},
                     {"PID", "TID", "DevId", "Count", "QCount", "TAvg (ns)", "AAvg (ns)",
                      "QAvg (ns)", "KAvg (ns)", "API Name", "Kernel Name"}),
            "PID,TID,DevId,Count,QCount,TAvg (ns),AAvg (ns),QAvg (ns),KAvg (ns),API Name,"
            "Kernel Name\n"
            "1,1,0,1,1,220,50,70,100,cudaGraphLaunch,gemm\n"
            "1,1,0,2,1,90,15,80,40,cudaLaunchKernel,gemm\n"
            "1,1,0,1,1,110,50,50,10,cudaGraphLaunch,node\n");
}

TEST(StatsTest, TraceHasARowForEachPieceOfWork) {
  TestTrace trace = Program();
  EXPECT_EQ(ReportOf("cuda_gpu_trace", {&trace.View()},
                     {"Start (ns)", "Duration (ns)", "CorrId", "Bytes (MB)", "Throughput (MB/s)",
                      "SrcMemKd", "DstMemKd", "Device", "Strm", "Name"}),
            "Start (ns),Duration (ns),CorrId,Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,"
            "Strm,Name\n"
            "160,50,2,-,-,-,-,0,7,gemm\n"
            "200,30,1,-,-,-,-,0,7,gemm\n"
            "500,10,3,-,-,-,-,0,7,node\n"
            "520,100,3,-,-,-,-,0,7,gemm\n"
            "700,40,98,8,2e+08,Pinned,Device,0,7,[CUDA memcpy Host-to-Device]\n"
            "750,20,97,-,-,-,-,0,7,[CUDA memcpy Host-to-Device]\n"
            "800,10,96,0.5,5e+07,-,Device,0,7,[CUDA memset]\n"
            "900,5,99,-,-,-,-,1,9,unlinked\n");
}

TEST(StatsTest, TraceOfOneRankHasTheColumnsOfNsysOfSeveralTheRankToo) {
  TestTrace a = Program();
  TestTrace b;
  b.Kernel("k", {0, 10});
  EXPECT_EQ(Analyse("stats", {&a.View()}, Report("cuda_gpu_trace"))[0].columns.front().name,
            "Start (ns)");
  const Tables both = Analyse("stats", {&b.View(1), &a.View(0)}, Report("cuda_gpu_trace"));
  EXPECT_EQ(both[0].columns.front().name, "rank");
  EXPECT_EQ(both[0].rows(), 9U);
}

TEST(StatsTest, Ranges) {
  TestTrace trace = Program();
  trace.Annotation("inner", {1100, 100}).AsyncAnnotation("inner", {500, 900});
  EXPECT_EQ(ReportOf("nvtx_sum", {&trace.View()},
                     {"Total Time (ns)", "Instances", "Avg (ns)", "Style", "Range"}),
            "Total Time (ns),Instances,Avg (ns),Style,Range\n"
            "1000,1,1000,PushPop,outer\n"
            "900,1,900,StartEnd,inner\n"
            "300,2,150,PushPop,inner\n");
}

TEST(StatsTest, RangesAsTheirWorkRuns) {
  TestTrace trace = Program();
  trace.Annotation("idle", {1100, 100});        // started nothing
  trace.AsyncAnnotation("request", {0, 2000});  // nor does it hold what others started
  EXPECT_EQ(ReportOf("nvtx_gpu_proj_sum", {&trace.View()},
                     {"Range", "Style", "Total Proj Time (ns)", "Total Range Time (ns)",
                      "Range Instances", "Total GPU Ops", "Avg GPU Ops", "Avg Range Lvl",
                      "Avg Num Child"}),
            "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Total GPU Ops,"
            "Avg GPU Ops,Avg Range Lvl,Avg Num Child\n"
            "outer,PushPop,460,1000,1,4,4,0,1\n"
            "inner,PushPop,70,200,1,2,2,1,0\n");
}

TEST(StatsTest, KernelsByEveryRangeAroundTheirCall) {
  TestTrace trace = Program();
  EXPECT_EQ(ReportOf("nvtx_kern_sum", {&trace.View()},
                     {"NVTX Range", "PID", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)",
                      "Kernel Name"}),
            "NVTX Range,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Kernel Name\n"
            "outer,1,1,1,3,180,gemm\n"
            "inner,1,1,1,2,80,gemm\n"
            "outer,1,1,1,1,10,node\n");
}

TEST(StatsTest, ReportsAreFoundByNameInOrderAndOnce) {
  const auto found = FindStatsReports("osrt_sum,nvtx_sum,osrt_sum");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0]->name, "osrt_sum");
  EXPECT_EQ((*found)[1]->name, "nvtx_sum");
  EXPECT_EQ(FindStatsReports("all")->size(), StatsReports().size());
  EXPECT_EQ(FindStatsReports("nvtx_sum,all")->size(), StatsReports().size());
}

TEST(StatsTest, AnUnknownReportListsTheKnownOnes) {
  for (const std::string_view list : {"kernels", "", "nvtx_sum,", ",nvtx_sum"}) {
    const auto found = FindStatsReports(list);
    ASSERT_FALSE(found.ok()) << list;
    EXPECT_EQ(found.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(found.error().Sentence().find("cuda_api_sum, cuda_gpu_kern_sum"), std::string::npos);
  }
}

TEST(StatsTest, LargeValuesStopAtTheEndOfTheRange) {
  TestTrace trace;
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  trace.Memcpy("Memcpy HtoD", {0, 10}, {}, kHuge).Memcpy("Memcpy HtoD", {20, 10}, {}, kHuge);
  EXPECT_EQ(ReportOf("cuda_gpu_mem_size_sum", {&trace.View()}, {"Total (MB)", "Count"}),
            "Total (MB),Count\n9.22337e+12,2\n");
}

}  // namespace
}  // namespace borescope::internal
