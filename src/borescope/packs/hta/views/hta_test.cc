// The micro vectors that were measured on HolisticTraceAnalysis itself.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/catalog/catalog.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/tables.h"
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

// HTA's join would make 10^8 rows of this.
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

}  // namespace
}  // namespace borescope::internal
