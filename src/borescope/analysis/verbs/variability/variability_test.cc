#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

Params With(const ParamSpec& spec, std::string_view text) {
  Params params;
  params.values.push_back(ParseParam(spec, text).value());
  return params;
}

TEST(VariabilityTest, ExcessIsTheTimeBeyondTheShortestCall) {
  TestTrace trace;
  trace.Kernel("a", {0, 10}).Kernel("a", {20, 14}).Kernel("a", {40, 10}).Kernel("once", {60, 5});
  const Tables found = Analyse("variability", {&trace.View()}, With(kContextParam, "0"));
  EXPECT_EQ(Csv(found[0]),
            "name,size,class,count,excess_ns,excess_share,total_ns,mean_ns,min_ns,max_ns,stddev_ns,"
            "gap_ns,gap_mean_ns\n"
            "a,-,other,3,4,1,34,11.3333,10,14,2.3094,16,5.33333\n"
            "once,-,other,1,0,0,5,5,5,5,0,10,10\n");
  EXPECT_EQ(Csv(found[1]),
            "kernels,count,total_ns,excess_ns,share\n"
            "communication,0,0,0,0\nother,4,39,4,0.102564\nall,4,39,4,0.102564\n");
}

TEST(VariabilityTest, CallsAreAlikeAfterTheSameKernels) {
  TestTrace trace;
  for (const int64_t start : {0, 100}) {
    trace.Kernel("a", {start, 10}).Kernel("b", {start + 10, 10});
    trace.Kernel("c", {start + 20, 10 + (start / 10)});
  }
  const Tables found = Analyse("variability", {&trace.View()});
  EXPECT_EQ(Csv(found[0], {"name", "after", "count", "excess_ns"}),
            "name,after,count,excess_ns\n"
            "c,a > b,2,10\n"
            "a,b > c,1,0\n"
            "a,-,1,0\n"
            "b,a,1,0\n"
            "b,c > a,1,0\n");
}

TEST(VariabilityTest, ProblemsOfOtherSizeAreNoSlowCalls) {
  TestTrace trace;
  trace.KernelOfSize("a", {0, 10}, 8, 128).KernelOfSize("a", {20, 90}, 64, 128);
  trace.KernelOfSize("a", {120, 12}, 8, 128).KernelOfSize("a", {140, 30}, 8, 256);
  trace.Kernel("a", {180, 50});
  const Tables found = Analyse("variability", {&trace.View()}, With(kContextParam, "0"));
  EXPECT_EQ(Csv(found[0], {"name", "size", "count", "excess_ns"}),
            "name,size,count,excess_ns\n"
            "a,8,1,1 x 128,1,1,2,2\na,64,1,1 x 128,1,1,1,0\na,8,1,1 x 256,1,1,1,0\na,-,1,0\n");
}

TEST(VariabilityTest, MessagesOfOtherSizeAreNoSlowCalls) {
  constexpr std::string_view kName = "ncclDevKernel_AllReduce_Sum";
  TestTrace trace;
  // The operator's message, else the kernel's own.
  for (const int64_t at : {0, 100}) {
    trace.Collective({.name = "allreduce", .in_elems = 64}, {at, 20});
    trace.Launched(kName, {at + 5, 5}, {at + 30, 10 + (at / 50)}, {1 + at, 7, 0});
  }
  trace.Kernel(kName, {300, 40}, {}, {.name = "allreduce", .in_elems = 256});
  trace.Kernel(kName, {400, 50}, {}, {.name = "allreduce", .in_elems = 256, .dtype = "Half"});
  const Tables found = Analyse("variability", {&trace.View()}, With(kContextParam, "0"));
  EXPECT_EQ(Csv(found[0], {"size", "count", "excess_ns"}),
            "size,count,excess_ns\n64 Float,2,2\n256 Float,1,0\n256 Half,1,0\n");
}

TEST(VariabilityTest, CopiesAreOfOneSizeByTheirBytes) {
  TestTrace trace;
  trace.Memcpy("Memcpy HtoD", {0, 10}, {}, 64).Memcpy("Memcpy HtoD", {20, 40}, {}, 4096);
  trace.Memcpy("Memcpy HtoD", {70, 11}, {}, 64).Memcpy("Memcpy HtoD", {90, 5});
  Params params = With(kContextParam, "0");
  params.all = true;
  EXPECT_EQ(Csv(Analyse("variability", {&trace.View()}, params)[0], {"size", "count", "excess_ns"}),
            "size,count,excess_ns\n64 bytes,2,1\n4096 bytes,1,0\n-,1,0\n");
}

TEST(VariabilityTest, StreamsAndDevicesNeverMix) {
  TestTrace trace;
  trace.Kernel("a", {0, 10}, {1, 7, 0}).Kernel("b", {10, 10}, {2, 9, 0});
  trace.Kernel("c", {20, 10}, {3, 7, 1}).Kernel("d", {30, 10}, {4, 7, 0});
  EXPECT_EQ(Csv(Analyse("variability", {&trace.View()})[0], {"name", "after"}),
            "name,after\na,-\nb,-\nc,-\nd,a\n");
}

TEST(VariabilityTest, CopiesStandBetweenKernelsWithAllOnly) {
  TestTrace trace;
  trace.Kernel("a", {0, 10}).Memset({15, 1}).Kernel("b", {20, 10});
  Params params;
  EXPECT_EQ(Csv(Analyse("variability", {&trace.View()}, params)[0], {"name", "after", "gap_ns"}),
            "name,after,gap_ns\na,-,0\nb,a,4\n");
  params.all = true;
  EXPECT_EQ(Csv(Analyse("variability", {&trace.View()}, params)[0], {"name", "after", "gap_ns"}),
            "name,after,gap_ns\n"
            "Memset (Device),a,5\na,-,0\nb,a > Memset (Device),4\n");
}

TEST(VariabilityTest, KernelsBeforeNeedNotBeSelected) {
  TestTrace trace;
  trace.Annotation("part", {20, 10}).Kernel("a", {0, 10}).Kernel("b", {20, 10});
  Params params;
  params.selection.annotation = "part";
  EXPECT_EQ(Csv(Analyse("variability", {&trace.View()}, params)[0], {"name", "after", "count"}),
            "name,after,count\nb,a,1\n");
}

TEST(VariabilityTest, OutliersLeaveTheStatistics) {
  TestTrace trace;
  for (int64_t i = 0; i < 10; ++i) {
    trace.Kernel("a", {i * 1000, i == 4 ? 100 : 10});
  }
  Params params = With(kContextParam, "0");
  params.values.push_back(ParseParam(kOutliersParam, "3").value());
  // One of ten that differs is 3 standard deviations away, exactly.
  EXPECT_EQ(Csv(Analyse("variability", {&trace.View()}, params)[0],
                {"count", "total_ns", "max_ns", "excess_ns", "gap_ns", "outliers"}),
            "count,total_ns,max_ns,excess_ns,gap_ns,outliers\n9,90,10,0,7830,1\n");
  params.values.back().number = 4;
  EXPECT_EQ(Csv(Analyse("variability", {&trace.View()}, params)[0], {"count", "outliers"}),
            "count,outliers\n10,0\n");
}

TEST(VariabilityTest, TheBestCallIsThatOfAllRanks) {
  TestTrace fast;
  fast.Kernel("a", {0, 10}).Kernel("ncclDevKernel_AllReduce_Sum_f32", {10, 5});
  TestTrace slow;
  slow.Kernel("a", {0, 30}).Kernel("ncclDevKernel_AllReduce_Sum_f32", {30, 6});
  const Tables found =
      Analyse("variability", {&slow.View(1), &fast.View(0)}, With(kContextParam, "0"));
  EXPECT_EQ(Csv(found[0], {"name", "count", "total_ns", "min_ns", "excess_ns", "excess_share"}),
            "name,count,total_ns,min_ns,excess_ns,excess_share\n"
            "a,2,40,10,20,0.952381\nncclDevKernel_AllReduce_Sum_f32,2,11,5,1,0.047619\n");
  EXPECT_EQ(Csv(found[1]),
            "kernels,count,total_ns,excess_ns,share\n"
            "communication,2,11,1,0.0196078\nother,2,40,20,0.392157\nall,4,51,21,0.411765\n");
}

TEST(VariabilityTest, ATraceWithoutKernels) {
  TestTrace trace;
  trace.Op("f", {0, 10});
  const Tables found = Analyse("variability", {&trace.View()});
  EXPECT_EQ(found[0].rows(), 0U);
  EXPECT_EQ(Csv(found[1], {"kernels", "count", "share"}),
            "kernels,count,share\ncommunication,0,0\nother,0,0\nall,0,0\n");
}

TEST(VariabilityTest, Categories) {
  TestTrace trace;
  trace.Kernel("gemm", {0, 10}).Kernel("x", {20, 14});
  Params params = With(kPatternsParam, "file");
  params.values.back().content = R"({"math": ["^ge"]})";
  EXPECT_EQ(Csv(Analyse("variability", {&trace.View()}, params)[0], {"name", "category"}),
            "name,category\ngemm,math\nx,(none)\n");
}

TEST(VariabilityTest, RejectsWhatItCannotDo) {
  const AnalysisSpec& spec = *FindAnalysis("variability");
  EXPECT_FALSE(spec.check(With(kContextParam, "65")).ok());
  EXPECT_FALSE(spec.check(With(kOutliersParam, "1")).ok());
  EXPECT_TRUE(spec.check(With(kOutliersParam, "2")).ok());
  EXPECT_TRUE(spec.check({}).ok());
}

// ---- Against the definition, written down in the simplest way ----

struct SlowTime {
  int64_t count = 0;
  int64_t total = 0;
  int64_t min = 0;
};

// Kernels of random names and streams; grouped by the name and the two before it on the stream.
std::map<std::pair<std::string, std::string>, SlowTime> SlowGroups(std::mt19937& random,
                                                                   TestTrace& trace) {
  std::map<int64_t, std::vector<std::string>> before;
  std::map<std::pair<std::string, std::string>, SlowTime> groups;
  int64_t at = 0;
  for (int i = 0; i < 80; ++i) {
    at += std::uniform_int_distribution<int64_t>(1, 30)(random);
    const int64_t dur = std::uniform_int_distribution<int64_t>(0, 20)(random);
    const int64_t stream = std::uniform_int_distribution<int64_t>(7, 8)(random);
    const std::string name(1, "abc"[std::uniform_int_distribution<size_t>(0, 2)(random)]);
    trace.Kernel(name, {at, dur}, {kMissing, stream, 0});
    std::vector<std::string>& names = before[stream];
    std::string after;
    for (size_t k = names.size() < 2 ? 0 : names.size() - 2; k < names.size(); ++k) {
      after += (after.empty() ? "" : " > ") + names[k];
    }
    names.push_back(name);
    SlowTime& time = groups[{name, after}];
    time.min = time.count == 0 ? dur : std::min(time.min, dur);
    ++time.count;
    time.total += dur;
  }
  return groups;
}

TEST(VariabilityTest, AgreesWithTheDefinitionAndWithGaps) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    TestTrace trace;
    const auto groups = SlowGroups(random, trace);
    const Table table = Analyse("variability", {&trace.View()})[0];
    ASSERT_EQ(table.rows(), groups.size());
    for (size_t row = 0; row < table.rows(); ++row) {
      const auto found = groups.find({Texts(table, "name")[row], Texts(table, "after")[row]});
      ASSERT_NE(found, groups.end());
      EXPECT_EQ(Ints(table, "count")[row], found->second.count);
      EXPECT_EQ(Ints(table, "total_ns")[row], found->second.total);
      EXPECT_EQ(Ints(table, "excess_ns")[row],
                found->second.total - (found->second.count * found->second.min));
    }
    EXPECT_EQ(SumOf(table, "gap_ns"), SumOf(Analyse("gaps", {&trace.View()})[0], "gap_ns"));
  }
}

}  // namespace
}  // namespace borescope::internal
