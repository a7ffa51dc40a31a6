#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

enum Place : uint8_t { kTime, kGaps, kNeighbours };

constexpr std::string_view kTimeHeader =
    "rank,gpu,span_ns,busy_ns,gap_ns,leading_ns,trailing_ns,idle_share\n";
constexpr std::string_view kGapHeader =
    "rank,gpu,range,from_ns,to_ns,count,total_ns,mean_ns,max_ns,share\n";

Params WithEdges(std::string_view edges) {
  Params params;
  params.values.push_back(ParseParam(kEdgesParam, edges).value());
  return params;
}

TEST(GapsTest, EveryGapIsInTheRangeOfItsOwnLength) {
  TestTrace trace;
  trace.Op("f", {0, 200});
  trace.Kernel("a", {5, 5}).Kernel("b", {20, 10}).Memset({41, 9}).Kernel("d", {50, 10});
  trace.Kernel("e", {160, 20});
  const Tables found = Analyse("gaps", {&trace.View()}, WithEdges("10ns,20ns,50ns"));
  EXPECT_EQ(Csv(found[kTime]), std::string(kTimeHeader) + "0,0,200,54,121,5,20,0.73\n");
  EXPECT_EQ(Csv(found[kGaps]), std::string(kGapHeader) +
                                   "0,0,to 10ns,0,10,1,10,10,10,0.05\n"
                                   "0,0,10ns to 20ns,10,20,1,11,11,11,0.055\n"
                                   "0,0,over 50ns,50,-,1,100,100,100,0.5\n");
  EXPECT_EQ(Csv(found[kNeighbours], {"before", "after", "count", "total_ns", "max_ns"}),
            "before,after,count,total_ns,max_ns\n"
            "d,e,1,100,100\nb,Memset (Device),1,11,11\na,b,1,10,10\n");
  EXPECT_EQ(found[kNeighbours].preview_rows, 20U);
}

TEST(GapsTest, ADeviceStandsStillWhenAllItsStreamsDo) {
  TestTrace trace;
  trace.Kernel("a", {0, 100}, {1, 7, 0}).Kernel("b", {10, 20}, {2, 9, 0});
  trace.Kernel("c", {120, 10}, {3, 9, 0});
  Params params;
  Tables found = Analyse("gaps", {&trace.View()}, params);
  EXPECT_EQ(Csv(found[kTime]), std::string(kTimeHeader) + "0,0,130,110,20,0,0,0.153846\n");
  EXPECT_EQ(Csv(found[kNeighbours], {"before", "after", "total_ns"}),
            "before,after,total_ns\na,c,20\n");
  params.by = {"stream"};
  found = Analyse("gaps", {&trace.View()}, params);
  EXPECT_EQ(Csv(found[kTime], {"gpu", "stream", "busy_ns", "gap_ns", "leading_ns", "trailing_ns"}),
            "gpu,stream,busy_ns,gap_ns,leading_ns,trailing_ns\n0,7,100,0,0,30\n0,9,30,90,10,0\n");
  EXPECT_EQ(Csv(found[kGaps], {"stream", "range", "total_ns"}),
            "stream,range,total_ns\n9,to 10us,90\n");
  EXPECT_EQ(Csv(found[kNeighbours], {"before", "after", "total_ns"}),
            "before,after,total_ns\nb,c,90\n");
}

TEST(GapsTest, WorksThatBeginTogetherEndOneGap) {
  TestTrace trace;
  trace.Kernel("a", {0, 10}, {1, 7, 0}).Kernel("same end", {2, 8}, {2, 9, 0});
  trace.Kernel("moment", {30, 0}, {3, 7, 0}).Kernel("x", {30, 10}, {4, 9, 0});
  const Tables found = Analyse("gaps", {&trace.View()});
  EXPECT_EQ(Csv(found[kTime], {"busy_ns", "gap_ns"}), "busy_ns,gap_ns\n20,20\n");
  EXPECT_EQ(Csv(found[kNeighbours], {"before", "after", "count", "total_ns"}),
            "before,after,count,total_ns\na,moment,1,20\n");
}

TEST(GapsTest, WorkWithoutBreakHasNoGaps) {
  TestTrace trace;
  trace.Kernel("a", {0, 10}).Kernel("b", {10, 10}).Kernel("c", {15, 5});
  const Tables found = Analyse("gaps", {&trace.View()});
  EXPECT_EQ(Csv(found[kTime]), std::string(kTimeHeader) + "0,0,20,20,0,0,0,0\n");
  EXPECT_EQ(found[kGaps].rows(), 0U);
  EXPECT_EQ(found[kNeighbours].rows(), 0U);
}

TEST(GapsTest, DevicesAndRanks) {
  TestTrace first;
  first.Op("f", {0, 100});
  first.Kernel("a", {0, 10}, {1, 7, 0}).Kernel("b", {20, 10}, {2, 7, 0});
  first.Kernel("a", {0, 50}, {3, 7, 1});
  TestTrace second;
  second.Kernel("a", {0, 10}).Kernel("b", {60, 40});
  TestTrace idle;
  idle.Op("f", {0, 70});
  const Tables found = Analyse("gaps", {&second.View(1), &idle.View(2), &first.View(0)});
  EXPECT_EQ(Csv(found[kTime]), std::string(kTimeHeader) +
                                   "0,0,100,20,10,0,70,0.8\n"
                                   "0,1,100,50,0,0,50,0.5\n"
                                   "1,0,100,50,50,0,0,0.5\n"
                                   "2,-,70,0,0,70,0,1\n");
  EXPECT_EQ(Csv(found[kGaps], {"rank", "gpu", "total_ns"}), "rank,gpu,total_ns\n0,0,10\n1,0,50\n");
  EXPECT_EQ(Csv(found[kNeighbours]), "before,after,count,total_ns,max_ns,share\na,b,2,60,50,1\n");
}

TEST(GapsTest, AGapThatAStepCutsCountsInBothWithItsPart) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {0, 50}).Annotation("ProfilerStep#2", {50, 50});
  trace.Kernel("a", {10, 10}).Kernel("b", {80, 10});
  Params params;
  params.by = {"step"};
  params.selection.step_rule = StepRule::kTime;
  const Tables found = Analyse("gaps", {&trace.View()}, params);
  EXPECT_EQ(
      Csv(found[kTime], {"step", "span_ns", "busy_ns", "gap_ns", "leading_ns", "trailing_ns"}),
      "step,span_ns,busy_ns,gap_ns,leading_ns,trailing_ns\n1,50,10,30,10,0\n2,50,10,30,0,10\n");
  EXPECT_EQ(Csv(found[kGaps], {"step", "count", "total_ns", "share"}),
            "step,count,total_ns,share\n1,1,30,0.6\n2,1,30,0.6\n");
  EXPECT_EQ(Csv(found[kNeighbours], {"count", "total_ns"}), "count,total_ns\n1,60\n");
}

// ---- Against the definition, written down in the simplest way ----

struct Work {
  int64_t ts_ns;
  int64_t dur_ns;
  int64_t stream;
  int64_t gpu;
};

std::vector<Work> RandomWork(std::mt19937& random, TestTrace& trace) {
  std::vector<Work> works(std::uniform_int_distribution<size_t>(1, 60)(random));
  for (Work& work : works) {
    work.ts_ns = std::uniform_int_distribution<int64_t>(0, 400)(random);
    work.dur_ns = std::uniform_int_distribution<int64_t>(0, 12)(random);
    work.stream = std::uniform_int_distribution<int64_t>(7, 9)(random);
    work.gpu = std::uniform_int_distribution<int64_t>(0, 1)(random);
    trace.Kernel("k", {work.ts_ns, work.dur_ns}, {kMissing, work.stream, work.gpu});
  }
  return works;
}

// The time before `work` in which nothing else runs: 0 if something does, or nothing came before.
int64_t GapBefore(const std::vector<Work>& works, const Work& work) {
  int64_t last_end = -1;
  for (const Work& other : works) {
    if (other.gpu == work.gpu && other.ts_ns < work.ts_ns) {
      last_end = std::max(last_end, other.ts_ns + other.dur_ns);
    }
  }
  return last_end < 0 ? 0 : std::max(int64_t{0}, work.ts_ns - last_end);
}

// By device, and by which of the edges 2, 5, 20 is the first that is no shorter.
std::map<std::pair<int64_t, size_t>, int64_t> SlowRanges(const std::vector<Work>& works) {
  const int64_t edges[] = {2, 5, 20};
  std::map<std::pair<int64_t, int64_t>, int64_t> gap_at;  // works that begin together end one
  for (const Work& work : works) {
    gap_at[{work.gpu, work.ts_ns}] = GapBefore(works, work);
  }
  std::map<std::pair<int64_t, size_t>, int64_t> ranges;
  for (const auto& [key, ns] : gap_at) {
    size_t range = 0;
    while (range < 3 && ns > edges[range]) {
      ++range;
    }
    ranges[{key.first, range}] += ns;
  }
  std::erase_if(ranges, [](const auto& entry) { return entry.second == 0; });
  return ranges;
}

TEST(GapsTest, AgreesWithTheDefinitionAndWithBusy) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    TestTrace trace;
    trace.Op("f", {-3, 450});
    const std::vector<Work> works = RandomWork(random, trace);
    const Tables found = Analyse("gaps", {&trace.View()}, WithEdges("2ns,5ns,20ns"));
    std::map<std::pair<int64_t, size_t>, int64_t> ranges;
    std::map<int64_t, int64_t> gap_ns;
    for (size_t row = 0; row < found[kGaps].rows(); ++row) {
      const int64_t from = Ints(found[kGaps], "from_ns")[row];
      const size_t range = from == 0 ? 0 : from == 2 ? 1 : from == 5 ? 2 : 3;
      const int64_t total = Ints(found[kGaps], "total_ns")[row];
      ranges[{Ints(found[kGaps], "gpu")[row], range}] = total;
      gap_ns[Ints(found[kGaps], "gpu")[row]] += total;
    }
    EXPECT_EQ(ranges, SlowRanges(works));
    const Table& time = found[kTime];
    EXPECT_EQ(Csv(time, {"gpu", "span_ns", "busy_ns"}),
              Csv(Analyse("busy", {&trace.View()})[0], {"gpu", "span_ns", "busy_ns"}));
    for (size_t row = 0; row < time.rows(); ++row) {
      EXPECT_EQ(Ints(time, "span_ns")[row], Ints(time, "busy_ns")[row] + Ints(time, "gap_ns")[row] +
                                                Ints(time, "leading_ns")[row] +
                                                Ints(time, "trailing_ns")[row]);
      EXPECT_EQ(Ints(time, "gap_ns")[row], gap_ns[Ints(time, "gpu")[row]]);
    }
  }
}

}  // namespace
}  // namespace borescope::internal
