// --compat hta: overlap, idle, launches, queue. The vectors measured on HTA itself are golden tests
// (hta.test, hta_graph.test).
#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/packs/hta/views/hta_testing.h"

namespace borescope::internal {
namespace {

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

// Gaps go from the row before by start, so that overlapping rows make negative ones.
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

// Two host rows of one number keep the kernel twice: the second copy follows on itself.
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

// Every host row of a number with every device row of it.
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
