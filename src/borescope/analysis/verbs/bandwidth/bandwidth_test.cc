#include <gtest/gtest.h>

#include <limits>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/table/table_ops.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kHtoD = "Memcpy HtoD (Pageable -> Device)";
constexpr std::string_view kDtoH = "Memcpy DtoH (Device -> Pinned)";

Params WithSeries() {
  Params params;
  params.values.push_back({kSeriesParam.name, 1, ""});
  return params;
}

std::string Series(TestTrace& trace) {
  return Csv(Analyse("bandwidth", {&trace.View()}, WithSeries())[1],
             {"kind", "ts_ns", "copies", "gbps"});
}

TEST(BandwidthTest, RatesByKindAndGpu) {
  TestTrace trace;
  trace.Memcpy(kDtoH, {0, 100}, {1, 7, 0}, 400).Memcpy(kHtoD, {0, 100}, {2, 7, 0}, 450);
  trace.Memcpy(kHtoD, {200, 300}, {3, 8, 0}, 150).Memcpy(kHtoD, {0, 10}, {4, 7, 1}, 20);
  trace.Memset({600, 10}, {5, 7, 0}, 80).Memcpy("Memcpy?", {700, 10}, {6, 7, 0}, 10);
  EXPECT_EQ(
      Csv(Analyse("bandwidth", {&trace.View()})[0]),
      "rank,gpu,kind,count,bytes,total_ns,mean_gbps,min_gbps,p50_gbps,max_gbps,unrated,coverage\n"
      "0,0,HtoD,2,600,400,1.5,0.5,2.5,4.5,0,1\n"
      "0,0,DtoH,1,400,100,4,4,4,4,0,1\n"
      "0,0,memset,1,80,10,8,8,8,8,0,1\n"
      "0,0,other,1,10,10,1,1,1,1,0,1\n"
      "0,1,HtoD,1,20,10,2,2,2,2,0,1\n");
}

// A copy without a rate counts, but is not taken for an infinitely fast or a useless one.
TEST(BandwidthTest, CopiesWithoutBytesOrLengthHaveNoRate) {
  TestTrace trace;
  trace.Memcpy(kHtoD, {0, 100}, {1, 7, 0}, 200).Memcpy(kHtoD, {200, 0}, {2, 7, 0}, 300);
  trace.Memcpy(kHtoD, {300, 50}, {3, 7, 0}).Memcpy(kHtoD, {400, 50}, {4, 7, 0}, -1);
  trace.Memcpy(kDtoH, {500, 0}, {5, 7, 0}, 1);
  EXPECT_EQ(
      Csv(Analyse("bandwidth", {&trace.View()})[0],
          {"kind", "count", "bytes", "total_ns", "mean_gbps", "max_gbps", "unrated", "coverage"}),
      "kind,count,bytes,total_ns,mean_gbps,max_gbps,unrated,coverage\n"
      "HtoD,4,500,200,-,2,3,0.5\nDtoH,1,1,0,-,-,1,-\n");
}

TEST(BandwidthTest, MeanRatesCoverNinetyPercentOfTheTime) {
  TestTrace trace;
  trace.Memcpy(kHtoD, {0, 90}, {1, 7, 0}, 180).Memcpy(kHtoD, {100, 10}, {2, 7, 0});
  trace.Memcpy(kDtoH, {0, 89}, {3, 7, 0}, 178).Memcpy(kDtoH, {100, 10}, {4, 7, 0});
  EXPECT_EQ(Csv(Analyse("bandwidth", {&trace.View()})[0], {"kind", "mean_gbps", "coverage"}),
            "kind,mean_gbps,coverage\nHtoD,2,0.9\nDtoH,-,0.89899\n");
}

// Not known is not nothing; known to be nothing is.
TEST(BandwidthTest, BytesAreMissingWhereNoSizeWasRecorded) {
  TestTrace trace;
  trace.Memcpy(kHtoD, {0, 20}, {1, 7, 0}).Memcpy(kHtoD, {20, 18}, {2, 7, 0}, -1);
  trace.Memcpy(kDtoH, {40, 10}, {3, 7, 0}, 0).Memcpy(kDtoH, {50, 10}, {4, 7, 0});
  trace.Memset({60, 10}, {5, 7, 0}).Memset({70, 10}, {6, 7, 0}, 30);
  const Tables tables = Analyse("bandwidth", {&trace.View()});
  EXPECT_EQ(Csv(tables[0], {"kind", "count", "bytes", "mean_gbps", "unrated"}),
            "kind,count,bytes,mean_gbps,unrated\n"
            "HtoD,2,-,-,2\nDtoH,2,0,-,2\nmemset,2,30,-,1\n");
}

// Added up over ranks, what is known stays.
TEST(BandwidthTest, KnownBytesStayBesideMissingOnes) {
  TestTrace a;
  TestTrace b;
  a.Memcpy(kHtoD, {0, 20}, {1, 7, 0});
  b.Memcpy(kHtoD, {0, 20}, {1, 7, 0}, 40);
  Table both = Analyse("bandwidth", {&a.View(0), &b.View(1)})[0];
  EXPECT_EQ(Csv(both, {"rank", "bytes"}), "rank,bytes\n0,-\n1,40\n");
  both.Find("rank")->role = Role::kDerived;
  EXPECT_EQ(Csv(MergeByKey(both), {"kind", "count", "bytes", "unrated"}),
            "kind,count,bytes,unrated\nHtoD,2,40,1\n");
}

TEST(BandwidthTest, ConcurrentCopiesAddUpAndComeBackToZero) {
  TestTrace trace;
  trace.Memcpy(kHtoD, {0, 30}, {1, 7, 0}, 3).Memcpy(kHtoD, {10, 30}, {2, 8, 0}, 7);
  trace.Memcpy(kHtoD, {40, 3}, {3, 7, 0}, 1).Memcpy(kDtoH, {20, 10}, {4, 9, 0}, 45);
  EXPECT_EQ(Series(trace),
            "kind,ts_ns,copies,gbps\n"
            "HtoD,0,1,0.1\nHtoD,10,2,0.333333\nHtoD,30,1,0.233333\nHtoD,40,1,0.333333\n"
            "HtoD,43,0,0\nDtoH,20,1,4.5\nDtoH,30,0,0\n");
}

// Floating point would lose the small copy beside the large one, or leave a rest.
TEST(BandwidthTest, SumsAreExact) {
  TestTrace trace;
  trace.Memcpy(kHtoD, {0, 9}, {1, 7, 0}, 1).Memcpy(kHtoD, {1, 1}, {2, 8, 0}, int64_t{1} << 50);
  trace.Memcpy(kHtoD, {1, 7}, {3, 9, 0}, std::numeric_limits<int64_t>::max());
  const Table table = Analyse("bandwidth", {&trace.View()}, WithSeries())[1];
  const auto& gbps = std::get<FloatValues>(table.Find("gbps")->values);
  ASSERT_EQ(gbps.size(), 5u);
  EXPECT_EQ(gbps[0], 1.0 / 9.0);
  EXPECT_EQ(gbps[3], 1.0 / 9.0);
  EXPECT_EQ(gbps[4], 0.0);
}

TEST(BandwidthTest, CopiesBelongToTheWindowOfTheirLaunch) {
  TestTrace trace;
  trace.Annotation("part", {0, 100});
  trace.Runtime("cudaMemcpyAsync", {50, 5}, 1).Memcpy(kHtoD, {150, 10}, {1, 7, 0}, 20);
  trace.Runtime("cudaMemcpyAsync", {110, 5}, 2).Memcpy(kHtoD, {170, 10}, {2, 7, 0}, 30);
  Params params;
  params.selection.annotation = "part";
  EXPECT_EQ(Csv(Analyse("bandwidth", {&trace.View()}, params)[0], {"count", "bytes"}),
            "count,bytes\n1,20\n");
}

// More than any memory holds: no rate beyond 2^50 bytes, but the bytes stay what they are.
TEST(BandwidthTest, BytesAreNotCut) {
  TestTrace trace;
  trace.Memcpy(kHtoD, {0, 1}, {1, 7, 0}, int64_t{1} << 60);
  EXPECT_EQ(Csv(Analyse("bandwidth", {&trace.View()})[0], {"bytes", "max_gbps"}),
            "bytes,max_gbps\n1152921504606846976,1.1259e+15\n");
}

TEST(BandwidthTest, KernelsAreNoCopies) {
  TestTrace trace;
  trace.Kernel("__amd_rocclr_copyBuffer", {0, 10}, {1, 0, 0});
  EXPECT_EQ(Analyse("bandwidth", {&trace.View()})[0].rows(), 0u);
}

TEST(BandwidthTest, TheOverlayHoldsACounterForEveryKindAndGpu) {
  TestTrace trace;
  trace.Memcpy(kHtoD, {0, 10}, {1, 7, 0}, 20).Memcpy(kHtoD, {5, 10}, {2, 7, 1}, 45);
  const Overlay overlay = FindAnalysis("bandwidth")->overlay(trace.View(), {}).value();
  ASSERT_EQ(overlay.counters.size(), 2u);
  EXPECT_EQ(overlay.counters[1].name, "Bandwidth, HtoD");
  EXPECT_EQ(overlay.counters[1].series, "GB/s");
  EXPECT_EQ(overlay.counters[1].pid, 1);
  ASSERT_EQ(overlay.counters[1].points.size(), 2u);
  EXPECT_EQ(overlay.counters[1].points[0].value, 4.5);
  EXPECT_EQ(overlay.counters[1].points[1].value, 0.0);
}

}  // namespace
}  // namespace borescope::internal
