#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/catalog/catalog.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"
#include "borescope/packs/hta/views/hta_testing.h"

namespace borescope::internal {

namespace {

// "Small GPU trace A".
TestTrace TraceA() {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 1000));
  trace.Launched("gemm", Us(10, 5), Us(20, 30), {1, 7, 0});
  trace.Launched("ncclDevKernel_AllReduce", Us(20, 5), Us(30, 40), {2, 9, 0});
  trace.Launched("gemm", Us(30, 5), Us(55, 10), {3, 7, 0});
  trace.Launched("relu", Us(80, 5), Us(90, 10), {4, 7, 0});
  trace.Launched("relu", Us(90, 5), Us(140, 10), {5, 7, 0});
  trace.Runtime("cudaMemcpyAsync", Us(95, 8), 6);
  trace.Memcpy("Memcpy HtoD (Pageable -> Device)", Us(160, 0), {6, 7, 0});
  trace.Launched("SyncBatchNorm_k", Us(120, 5), Us(170, 10), {7, 7, 0});
  return trace;
}

TEST(HtaBreakdownTest, TraceA) {
  TestTrace trace = TraceA();
  EXPECT_EQ(Csv(Analyse("breakdown", {&trace.View()}, Hta())[0]),
            "rank,idle_us,compute_us,non_compute_us,kernel_us,idle_pctg,compute_pctg,"
            "non_compute_pctg\n0,80,60,20,160,50,37.5,12.5\n");
}

TEST(HtaBreakdownTest, ARankWithoutDeviceRowsHasNoNumbers) {
  TestTrace trace;
  trace.Op("f", Us(0, 1));
  EXPECT_EQ(Csv(Analyse("breakdown", {&trace.View()}, Hta())[0], {"rank", "kernel_us"}),
            "rank,kernel_us\n0,-\n");
}

TEST(HtaKernelsTest, TraceA) {
  TestTrace trace = TraceA();
  const Tables findings = Analyse("kernels", {&trace.View()}, Hta());
  EXPECT_EQ(Csv(findings[0]),
            "type,total_us,percent\nCOMPUTATION,30,42.9\n"
            "COMPUTATION overlapping COMMUNICATION,30,42.9\nCOMMUNICATION,10,14.3\n");
  EXPECT_EQ(Csv(findings[1]),
            "name,sum_us,max_us,min_us,stddev_us,mean_us,kernel_type,rank\n"
            "ncclDevKernel_AllReduce,40,40,40,0,40,COMMUNICATION,0\n"
            "gemm,40,30,10,14.1421,20,COMPUTATION,0\n"
            "relu,20,10,10,0,10,COMPUTATION,0\n"
            "Memcpy HtoD (Pageable -> Device),0,0,0,0,0,MEMORY,0\n");
}

Result<Tables> MapDiffOf(TestTrace& trace, std::string_view steps) {
  Params params = Hta();
  params.selection.steps = NumberRanges::Parse(steps).value();
  return FindAnalysis("diff")->FindPipeline(Compat::kHta)->map(trace.View(), params);
}

TEST(HtaDiffTest, AStepThatDoesNotExistIsAnError) {
  TestTrace trace = TraceA();
  EXPECT_TRUE(MapDiffOf(trace, "1").ok());
  const Result<Tables> findings = MapDiffOf(trace, "99");
  ASSERT_FALSE(findings.ok());
  EXPECT_EQ(findings.error().code, ErrorCode::kMissingData);
}

TEST(HtaDiffTest, HostileDurationsStopAtTheLargestNumber) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  TestTrace trace;
  trace.Op("f", Us(0, 1)).Op("g", Us(2, 1));
  const Tables base = Analyse("diff", {&trace.View()}, Hta());
  Tables test = base;
  std::get<IntValues>(test[0].columns[3].values) = {kLargest, kLargest - 1};
  const Tables findings =
      FindAnalysis("diff")->FindPipeline(Compat::kHta)->compare(base, test, Hta()).value();
  EXPECT_EQ(Csv(findings[0], {"name", "diff_us"}),
            "name,diff_us\nf,9223372036854775806\ng,9223372036854775805\n");
  EXPECT_EQ(Ints(findings[1], "test_us")[0], kLargest);
}

std::vector<HtaAggregate> Aggregate(const HtaFolding& folding) {
  const std::vector<HtaDuration> durations = {{"a", 10}, {"a", 20}, {"a", 30}, {"b", 25},
                                              {"b", 15}, {"c", 30}, {"d", 5},  {"d", 5}};
  return HtaAggregates(durations, folding);
}

void ExpectRow(const HtaAggregate& row, std::string_view name, const std::vector<double>& numbers) {
  EXPECT_EQ(row.name, name);
  EXPECT_EQ(row.sum, numbers[0]);
  EXPECT_EQ(row.max, numbers[1]);
  EXPECT_EQ(row.min, numbers[2]);
  EXPECT_EQ(row.mean, numbers[3]);
  EXPECT_NEAR(row.stddev, numbers[4], 1e-6);
}

TEST(HtaAggregatesTest, NotFolded) {
  const std::vector<HtaAggregate> rows = Aggregate({10, 0.8, {}});
  ASSERT_EQ(rows.size(), 4u);
  ExpectRow(rows[0], "a", {60, 30, 10, 20, 10});
  ExpectRow(rows[1], "b", {40, 25, 15, 20, 7.071068});
  ExpectRow(rows[2], "c", {30, 30, 30, 30, 0});
  ExpectRow(rows[3], "d", {10, 5, 5, 5, 0});
}

TEST(HtaAggregatesTest, SumsBelowZeroAreKeptWithoutAnAllowlist) {
  const std::vector<HtaDuration> durations = {
      {"a", 60}, {"b", 40}, {"c", 30}, {"d", -1}, {"d", -1}};
  const std::vector<HtaAggregate> rows = HtaAggregates(durations, {2, 0.8, {}});
  ASSERT_EQ(rows.size(), 4u);
  ExpectRow(rows[2], "d", {-2, -2, -2, -2, 0});
  ExpectRow(rows[3], "others", {30, 30, 30, 30, 0});
  EXPECT_EQ(HtaAggregates(durations, {2, 0.8, {"a"}}).size(), 3u);
}

TEST(HtaAggregatesTest, FoldedRowsDescribeSums) {
  for (const HtaFolding& folding : {HtaFolding{2, 0.8, {}}, HtaFolding{3, 0.5, {}}}) {
    const std::vector<HtaAggregate> rows = Aggregate(folding);
    ASSERT_EQ(rows.size(), 3u);
    ExpectRow(rows[0], "a", {60, 60, 60, 60, 0});
    ExpectRow(rows[1], "b", {40, 40, 40, 40, 0});
    ExpectRow(rows[2], "others", {40, 30, 10, 20, 14.142136});
  }
}

TEST(HtaAggregatesTest, AllowedNamesStay) {
  const std::vector<HtaAggregate> rows = Aggregate({2, 0.8, {"d"}});
  ASSERT_EQ(rows.size(), 4u);
  ExpectRow(rows[2], "d", {10, 10, 10, 10, 0});
  ExpectRow(rows[3], "others", {30, 30, 30, 30, 0});
}

TEST(HtaRowsTest, MergesTouchingRows) {
  const auto row = [](double ts, double dur) {
    HtaRow made;
    made.ts_us = ts;
    made.dur_us = dur;
    return made;
  };
  const std::vector<HtaInterval> merged =
      HtaMerge({row(0, 10), row(10, 5), row(20, 5), row(22, 10), row(40, 0)});
  ASSERT_EQ(merged.size(), 3u);
  EXPECT_EQ(merged[0].end_us, 15);
  EXPECT_EQ(merged[1].begin_us, 20);
  EXPECT_EQ(merged[1].end_us, 32);
  EXPECT_EQ(merged[2].end_us, 40);
}

TEST(HtaRowsTest, FractionsShrinkEventsToWholeMicroseconds) {
  TestTrace trace;
  trace.Kernel("a", {1500, 3000}).Kernel("b", {7100, 800}).Kernel("c", {9000, 1000});
  const std::vector<HtaRow> rows = HtaDeviceRows(trace.View());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].ts_us, 2);
  EXPECT_EQ(rows[0].dur_us, 2);
  EXPECT_EQ(rows[1].dur_us, -1);  // [7.1, 7.9) has no whole microsecond
  EXPECT_EQ(rows[2].dur_us, 1);
}

TEST(HtaRowsTest, TheLastStepIsDroppedAndSharedCorrelationsCountTwice) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 100)).Annotation("ProfilerStep#2", Us(100, 100));
  trace.Runtime("cudaLaunchKernelExC", Us(10, 5), 1).Runtime("cuLaunchKernelEx", Us(11, 2), 1);
  trace.Kernel("k", Us(20, 10), {1, 7, 0});
  trace.Launched("late", Us(110, 5), Us(120, 10), {2, 7, 0});
  trace.Kernel("orphan", Us(50, 10), {3, 7, 0});
  EXPECT_EQ(Csv(Analyse("kernels", {&trace.View()}, Hta())[1], {"name", "sum_us"}),
            "name,sum_us\nk,20\n");
}

// HTA's join would make 10^8 rows from this.
TEST(HtaRowsTest, OneCorrelationForEverythingStaysSmall) {
  constexpr int64_t kMany = 10'000;
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, kMany));
  trace.Annotation("ProfilerStep#2", Us(kMany, kMany));
  for (int64_t i = 0; i < kMany; ++i) {
    trace.Runtime("cudaLaunchKernel", Us(i, 1), 1);
    trace.Kernel("k", Us(i, 1 + i % 2), {1, 7 + i % 2, 0});
  }
  const RankView& view = trace.View();
  const std::vector<HtaRow> rows = HtaDeviceRows(view);
  ASSERT_EQ(rows.size(), static_cast<size_t>(kMany));
  EXPECT_EQ(rows.front().times, kMany);
  EXPECT_EQ(Csv(Analyse("kernels", {&view}, Hta())[1],
                {"name", "sum_us", "max_us", "min_us", "stddev_us", "mean_us"}),
            "name,sum_us,max_us,min_us,stddev_us,mean_us\nk,1.5e+08,2,1,0.5,1.5\n");
}

TEST(HtaRowsTest, ASingleStepFiltersNothing) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 100)).Kernel("orphan", Us(50, 10), {3, 7, 0});
  EXPECT_EQ(HtaDeviceRows(trace.View()).size(), 1u);
}

TEST(HtaRowsTest, WaitsWithAStreamAndTritonOperatorsCount) {
  TestTrace trace;
  trace.Op("triton_poi_fused_add_0", Us(0, 90)).Runtime("cuLaunchKernel", Us(50, 5), 1);
  trace.Kernel("triton_poi_fused_add_0", Us(60, 2), {1, 7, 0});
  trace.Sync("Stream Sync", Us(70, 5), {2, 7, 0}).Sync("Context Sync", Us(80, 5), {3, -1, 0});
  const std::vector<HtaRow> rows = HtaDeviceRows(trace.View());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].dur_us, 90);
  EXPECT_EQ(rows[2].type, HtaType::kOther);
}

TEST(HtaTypeTest, Names) {
  constexpr std::pair<std::string_view, HtaType> kCases[] = {
      {"ncclDevKernel_AllReduce", HtaType::kCommunication},
      {"hipMemcpyAsync", HtaType::kCommunication},
      {"void ncclKernel_x", HtaType::kCommunication},
      {"Memcpy DtoH (Device)", HtaType::kMemory},
      {"dma_engine", HtaType::kMemory},
      {"SyncBatchNorm_k", HtaType::kOther},
      {"foo_dma_bar", HtaType::kOther},
      {"cudaDeviceSynchronize", HtaType::kOther},
      {"custom_gemm_kernel", HtaType::kComputation},
      {"CopyHostToDevice", HtaType::kComputation},
  };
  for (const auto& [name, type] : kCases) {
    EXPECT_EQ(HtaTypeName(HtaTypeOf(name)), HtaTypeName(type)) << name;
  }
}

TEST(HtaDelaysTest, FirstLaunchOfEachCall) {
  TestTrace trace;
  for (int64_t call = 0; call < 2; ++call) {
    const int64_t at = 100 * call;
    trace.Op("aten::linear", Us(at, 50)).Op("aten::addmm", Us(at + 5, 40));
    trace.Launched("a", Us(at + 8 + call, 2), Us(at + 20, 5), {2 * call + 1, 7, 0});
    trace.Launched("b", Us(at + 15, 2), Us(at + 30, 5), {2 * call + 2, 7, 0});
  }
  EXPECT_EQ(Csv(Analyse("delays", {&trace.View()}, Hta())[0]),
            "rank,aten_op_name,kernel_sequence,occurrence_count,avg_aten_op_launch_delay_us,"
            "avg_runtime_delay_us\n0,aten::addmm,a -> b,2,3.5,11.5\n");
}

// Of operators that start at the same time, the outermost one counts; threads do not matter.
TEST(HtaDelaysTest, TheFirstOfEqualStarts) {
  TestTrace trace;
  trace.Op("aten::matmul", Us(0, 20)).Op("aten::mm", Us(0, 18));
  trace.Launched("k", Us(5, 2), Us(9, 1), {1, 7, 0});
  trace.Op("aten::other_thread", Us(40, 30), {}, 2);
  trace.Launched("l", Us(50, 2), Us(60, 1), {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("delays", {&trace.View()}, Hta())[0], {"aten_op_name"}),
            "aten_op_name\naten::matmul\naten::other_thread\n");
}

TEST(HtaDelaysTest, OperatorsThatEndTooEarlyAreNotAround) {
  TestTrace trace;
  trace.Op("aten::outer", Us(0, 100)).Op("aten::early", Us(10, 5)).Op("my::op", Us(20, 50));
  trace.Launched("k", Us(30, 2), Us(40, 1), {1, 7, 0});
  EXPECT_EQ(Csv(Analyse("delays", {&trace.View()}, Hta())[0],
                {"aten_op_name", "avg_aten_op_launch_delay_us"}),
            "aten_op_name,avg_aten_op_launch_delay_us\naten::outer,30\n");
}

// HTA stops at these.
TEST(HtaDelaysTest, LaunchesWithoutOneKernelAreLeftOut) {
  TestTrace trace;
  trace.Op("aten::mm", Us(0, 100)).Runtime("cudaLaunchKernel", Us(5, 2), 1);
  trace.Launched("a", Us(10, 2), Us(20, 1), {2, 7, 0}).Kernel("b", Us(22, 1), {2, 7, 0});
  trace.Runtime("cudaLaunchKernel", Us(120, 2), 3).Kernel("outside", Us(130, 1), {3, 7, 0});
  EXPECT_EQ(Analyse("delays", {&trace.View()}, Hta())[0].rows(), 0u);
}

std::string Sequences(TestTrace& trace, std::string op, int64_t min_length) {
  Params params = Hta();
  params.values.push_back({kOperatorParam.name, 0, std::move(op)});
  params.values.push_back({kMinLengthParam.name, min_length, ""});
  return Csv(Analyse("sequences", {&trace.View()}, params)[0]);
}

TEST(HtaSequencesTest, KernelsBelowAnOperator) {
  TestTrace trace;
  trace.Op("aten::mm", Us(0, 20));
  trace.Launched("a", Us(1, 1), Us(5, 4), {1, 7, 0}).Launched("b", Us(3, 1), Us(12, 3), {2, 7, 0});
  EXPECT_EQ(Sequences(trace, "aten::mm", 2),
            "rank,pattern,count,gpu_kernel_us,cpu_op_us\n0,aten::mm|a|b,1,7,20\n");
}

TEST(HtaSequencesTest, OnlyTheLeastDeepMatches) {
  TestTrace trace;
  trace.Op("aten::linear", Us(0, 20)).Op("aten::addmm", Us(1, 18));
  trace.Launched("a", Us(2, 1), Us(5, 1), {1, 7, 0});
  trace.Op("wrap", Us(30, 30)).Op("aten::mm", Us(31, 20));
  trace.Launched("b", Us(32, 1), Us(40, 1), {2, 7, 0});
  trace.Op("aten::short", Us(70, 30));
  EXPECT_EQ(Sequences(trace, "aten::", 1),
            "rank,pattern,count,gpu_kernel_us,cpu_op_us\n0,aten::linear|a,1,1,20\n");
}

// The backward thread is below the annotation of the main thread during which it runs.
TEST(HtaSequencesTest, TheBackwardThreadIsPutBelowItsAnnotation) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 200)).Annotation("## backward ##", Us(100, 80));
  trace.Op("autograd::engine", Us(110, 50), {}, 2).Op("MmBackward0", Us(112, 40), {}, 2);
  trace.Runtime("cudaLaunchKernel", Us(120, 2), 1, 2).Kernel("k", Us(130, 9), {1, 7, 0});
  EXPECT_EQ(Sequences(trace, "## backward ##", 1),
            "rank,pattern,count,gpu_kernel_us,cpu_op_us\n0,## backward ##|k,1,9,80\n");
}

// A row outside of all trees is less deep than any other, and has nothing below it.
TEST(HtaSequencesTest, ADeviceRowOfTheNameHidesAll) {
  TestTrace trace;
  trace.Op("fwd", Us(0, 20)).Launched("a", Us(2, 1), Us(5, 1), {1, 7, 0});
  trace.DeviceAnnotation("fwd", Us(5, 1), {kMissing, 7, 0});
  EXPECT_EQ(Sequences(trace, "fwd", 1), "rank,pattern,count,gpu_kernel_us,cpu_op_us\n");
}

// Two steps of which the second is dropped; one long NCCL kernel in the first.
TestTrace Rank(Span kernel) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 1000)).Annotation("ProfilerStep#2", Us(1000, 1000));
  trace.Launched("ncclKernel_AllReduce", Us(10, 5), kernel, {1, 7, 0});
  trace.Launched("gemm", Us(20, 5), Us(900, 90), {2, 9, 0});
  return trace;
}

TEST(HtaStragglersTest, TheRankThatStartsLast) {
  TestTrace first = Rank(Us(100, 400));
  TestTrace second = Rank(Us(300, 200));
  EXPECT_EQ(Csv(Analyse("stragglers", {&first.View(0), &second.View(1)}, Hta())[0]),
            "num_candidates,rank,count,position\n1,1,1,1\n1,0,0,2\n2,0,1,1\n2,1,1,2\n");
}

TEST(HtaStragglersTest, OneRankCannotBeCompared) {
  TestTrace trace = Rank(Us(100, 400));
  EXPECT_EQ(Analyse("stragglers", {&trace.View()}, Hta())[0].rows(), 0u);
}

// HTA uses names that begin with ncclKernel, and kernels of at least a hundredth of a step.
TEST(HtaStragglersTest, OtherNamesAndShortKernelsDoNotCount) {
  TestTrace short_one = Rank(Us(100, 5));
  TestTrace short_two = Rank(Us(300, 9));
  EXPECT_EQ(Analyse("stragglers", {&short_one.View(0), &short_two.View(1)}, Hta())[0].rows(), 0u);
  TestTrace newer_one;
  TestTrace newer_two;
  for (TestTrace* trace : {&newer_one, &newer_two}) {
    trace->Annotation("ProfilerStep#1", Us(0, 1000));
    trace->Launched("ncclDevKernel_AllReduce", Us(10, 5), Us(100, 300), {1, 7, 0});
  }
  EXPECT_EQ(Analyse("stragglers", {&newer_one.View(0), &newer_two.View(1)}, Hta())[0].rows(), 0u);
}

// Map, reduce, compare.
Tables Compare(TestTrace& base, TestTrace& test, const Params& params) {
  const Pipeline& pipeline = FindAnalysis("diff")->PipelineFor(params);
  const auto mapped = [&](TestTrace& trace) {
    const Tables tables = pipeline.map(trace.View(), params).value();
    return pipeline.reduce({&tables, 1}, params).value();
  };
  return pipeline.compare(mapped(base), mapped(test), params).value();
}

TEST(HtaDiffTest, TheFirstStepByDefault) {
  TestTrace base;
  base.Annotation("ProfilerStep#3", Us(0, 100)).Annotation("ProfilerStep#4", Us(100, 100));
  base.Op("both", Us(10, 5)).Op("gone", Us(20, 5)).Op("later", Us(110, 5));
  base.Launched("k<int>(x)", Us(30, 2), Us(150, 9), {1, 7, 0});
  TestTrace test;
  test.Annotation("ProfilerStep#3", Us(0, 100));
  test.Op("both", Us(10, 7))
      .Op("both", Us(20, 7))
      .Launched("k<float>(x)", Us(30, 2), Us(40, 8), {1, 7, 0});
  Params params = Hta();
  EXPECT_EQ(Csv(Compare(base, test, params)[0],
                {"side", "name", "base_count", "test_count", "diff_us", "counts_change"}),
            "side,name,base_count,test_count,diff_us,counts_change\n"
            "cpu,ProfilerStep#3,1,1,0,=\n"
            "cpu,both,1,2,9,+\n"
            "cpu,cudaLaunchKernel,1,1,0,=\n"
            "cpu,gone,1,0,-5,-\n"
            "gpu,k<float>(x),0,1,8,+\n"
            "gpu,k<int>(x),1,0,-9,-\n");
}

TEST(HtaDiffTest, ShortNamesMeet) {
  Params params = Hta();
  params.values.push_back({kShortNamesParam.name, 1, ""});
  TestTrace base;
  base.Kernel("void k<int>(x)", Us(0, 9), {1, 7, 0});
  TestTrace test;
  test.Kernel("void k<float>(x)", Us(0, 8), {1, 7, 0});
  EXPECT_EQ(Csv(Compare(base, test, params)[1], {"side", "names", "unchanged", "base_us"}),
            "side,names,unchanged,base_us\ncpu,0,0,0\ngpu,1,1,9\nall,1,1,9\n");
}

TEST(HtaDiffTest, ChosenSteps) {
  Params params = Hta();
  params.selection.steps = NumberRanges::Parse("4").value();
  TestTrace base;
  base.Annotation("ProfilerStep#3", Us(0, 100)).Annotation("ProfilerStep#4", Us(100, 100));
  base.Op("later", Us(110, 5));
  TestTrace test;
  test.Annotation("ProfilerStep#4", Us(0, 100)).Op("outside", Us(200, 5));
  EXPECT_EQ(Csv(Compare(base, test, params)[0], {"name", "counts_change"}),
            "name,counts_change\nProfilerStep#4,=\nlater,-\n");
}

std::string Answer(std::string_view verb, TestTrace& trace,
                   std::initializer_list<std::string_view> columns = {}) {
  return Csv(Analyse(verb, {&trace.View()}, Hta())[0], columns);
}

TEST(HtaOverlapTest, WithoutCommunicationThereIsNoShare) {
  TestTrace trace;
  trace.Kernel("gemm", Us(0, 10));
  EXPECT_EQ(Answer("overlap", trace),
            "rank,comm_us,overlapped_us,comp_comm_overlap_pctg\n0,0,0,-\n");
}

TEST(HtaOverlapTest, CopiesBesideChangeNothing) {
  TestTrace trace;
  trace.Kernel("gemm", Us(0, 20), {1, 7, 0}).Kernel("ncclKernel_x", Us(10, 20), {2, 9, 0});
  trace.Memcpy("Memcpy HtoD", Us(5, 10), {3, 11, 0});
  EXPECT_EQ(Answer("overlap", trace, {"comm_us", "overlapped_us", "comp_comm_overlap_pctg"}),
            "comm_us,overlapped_us,comp_comm_overlap_pctg\n20,10,50\n");
}

// Gaps begin at the end of the previous row by start, so that overlapping rows make negative gaps.
TEST(HtaIdleTest, OverlappingRowsMakeNegativeGaps) {
  TestTrace trace;
  trace.Launched("a", Us(0, 1), Us(10, 50), {1, 7, 0});
  trace.Launched("b", Us(2, 1), Us(20, 10), {2, 7, 0});
  trace.Launched("c", Us(40, 1), Us(70, 10), {3, 7, 0});
  EXPECT_EQ(Answer("idle", trace),
            "rank,stream,idle_category,idle_time_us,idle_time_ratio\n"
            "0,7,host_wait,40,-\n"
            "0,7,kernel_wait,-40,-\n"
            "0,7,other,0,-\n");
}

TEST(HtaIdleTest, TheLimitOfKernelWaitIsAnOption) {
  Params params = Hta();
  params.values.push_back({kKernelWaitParam.name, 50'000, ""});
  TestTrace trace;
  trace.Launched("a", Us(0, 1), Us(10, 10), {1, 7, 0});
  trace.Launched("b", Us(2, 1), Us(60, 10), {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("idle", {&trace.View()}, params)[0], {"idle_category", "idle_time_us"}),
            "idle_category,idle_time_us\nkernel_wait,40\nother,0\n");
}

// Two host rows with the same number keep the kernel twice: the second copy follows the first.
TEST(HtaIdleTest, RepeatedRowsFollowOnThemselves) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 100)).Annotation("ProfilerStep#2", Us(100, 100));
  trace.Runtime("cudaLaunchKernelExC", Us(10, 5), 1).Runtime("cuLaunchKernelEx", Us(11, 2), 1);
  trace.Kernel("k", Us(20, 10), {1, 7, 0});
  EXPECT_EQ(Answer("idle", trace, {"idle_category", "idle_time_us"}),
            "idle_category,idle_time_us\nkernel_wait,-10\nother,0\n");
}

TEST(HtaIdleTest, WaitsAreNoRows) {
  TestTrace trace;
  trace.Kernel("k", Us(20, 10)).Sync("Stream Sync", Us(40, 5), {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("idle", {&trace.View()}, Hta())[1], {"idle_category", "count"}),
            "idle_category,count\nother,0\n");
}

TEST(HtaLaunchesTest, OnlyCallsItKnows) {
  TestTrace trace;
  trace.Launched("a", Us(0, 5), Us(3, 10), {1, 7, 0});
  trace.Runtime("cuLaunchKernel", Us(10, 5), 2).Kernel("b", Us(20, 10), {2, 7, 0});
  trace.Runtime("hipLaunchKernel", Us(20, 5), 3).Kernel("c", Us(30, 10), {3, 7, 0});
  EXPECT_EQ(Answer("launches", trace),
            "rank,correlation,cpu_duration_us,gpu_duration_us,launch_delay_us\n0,1,5,10,0\n");
}

// Every host row with a number is joined with every device row with that number.
TEST(HtaLaunchesTest, SharedNumbersAreJoined) {
  TestTrace trace;
  trace.Runtime("cudaLaunchKernelExC", Us(10, 5), 1).Runtime("cuLaunchKernelEx", Us(11, 2), 1);
  trace.Kernel("k", Us(20, 10), {1, 7, 0});
  EXPECT_EQ(Answer("launches", trace, {"cpu_duration_us", "launch_delay_us"}),
            "cpu_duration_us,launch_delay_us\n5,5\n2,7\n");
}

TEST(HtaLaunchesTest, OneNumberForEverythingStaysSmall) {
  constexpr int64_t kMany = 2'000;
  TestTrace trace;
  for (int64_t i = 0; i < kMany; ++i) {
    trace.Launched("k", Us(2 * i, 1), Us(2 * i + 1, 1), {1, 7, 0});
  }
  EXPECT_EQ(Analyse("launches", {&trace.View()}, Hta())[0].rows(), size_t{16 * kMany});
}

TEST(HtaQueueTest, TimeAtTheLimit) {
  Params params = Hta();
  params.values.push_back({kQueueLimitParam.name, 2, ""});
  TestTrace trace;
  trace.Launched("a", Us(0, 1), Us(50, 10), {1, 7, 0});
  trace.Launched("b", Us(20, 1), Us(60, 10), {2, 7, 0});
  trace.Op("end", Us(100, 1));
  EXPECT_EQ(Csv(Analyse("queue", {&trace.View()}, params)[0],
                {"count", "max", "blocked_us", "blocked_ratio"}),
            "count,max,blocked_us,blocked_ratio\n4,2,30,0.3\n");
}

TEST(HtaQueueTest, OtherCallsDoNotQueue) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", Us(0, 1), 1).Kernel("k", Us(5, 1), {1, 7, 0});
  EXPECT_EQ(Answer("queue", trace, {"stream"}), "stream\n");
}

TEST(HtaBandwidthTest, WithoutRecordedRatesThereIsNoSummary) {
  TestTrace trace;
  trace.Memcpy("Memcpy HtoD (Pageable -> Device)", Us(0, 5));
  EXPECT_EQ(Answer("bandwidth", trace, {"name"}), "name\n");
}

}  // namespace

}  // namespace borescope::internal
