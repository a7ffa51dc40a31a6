#include <gtest/gtest.h>

#include "borescope/analysis/core/row.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";

std::string Scores(const Tables& tables) {
  return Csv(tables[0], {"rank", "score", "collectives", "times_last", "caused_wait_ns",
                         "waited_ns", "unmatched", "unused"});
}

constexpr std::string_view kHead =
    "rank,score,collectives,times_last,caused_wait_ns,waited_ns,unmatched,unused\n";

CollectiveArgs AllReduce(int64_t sequence = kMissing, int64_t group_size = 2) {
  CollectiveArgs args{"allreduce", 100, 100};
  args.sequence = sequence;
  args.group_size = group_size;
  return args;
}

TEST(StragglersTest, TheShortestKernelCameLast) {
  TestTrace a;
  TestTrace b;
  TestTrace c;
  a.Kernel(kKernel, {100, 50}).Kernel(kKernel, {200, 10}).Kernel(kKernel, {300, 30});
  b.Kernel(kKernel, {9120, 30}).Kernel(kKernel, {9200, 20}).Kernel(kKernel, {9300, 30});
  c.Kernel(kKernel, {5140, 10}).Kernel(kKernel, {5200, 20}).Kernel(kKernel, {5320, 10});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1), &c.View(4)});
  EXPECT_EQ(Scores(tables), std::string(kHead) +
                                "4,0.833333,3,2,100,10,0,0\n0,0.166667,3,1,20,60,0,0\n"
                                "1,0,3,0,0,50,0,0\n");
  EXPECT_EQ(Csv(tables[1], {"collective", "step", "position", "last_rank", "caused_wait_ns",
                            "ranks", "group", "called_from"}),
            "collective,step,position,last_rank,caused_wait_ns,ranks,group,called_from\n"
            "all_reduce,-,0,4,60,3,-,-\nall_reduce,-,2,4,40,3,-,-\nall_reduce,-,1,0,20,3,-,-\n");
  EXPECT_EQ(Csv(tables[0], {"evidence"}),
            "evidence\n"
            "last in 2 of 3 collectives; the others waited 100 ns for it (83.3 % of all waiting)\n"
            "last in 1 of 3 collectives; the others waited 20 ns for it (16.7 % of all waiting)\n"
            "nobody waited for it in 3 collectives; it waited 50 ns for others\n");
}

std::string Clocks(const Tables& tables) {
  return Csv(tables[0], {"rank", "caused_wait_ns", "clock_wait_ns", "clocks"});
}

constexpr std::string_view kClocksHead = "rank,caused_wait_ns,clock_wait_ns,clocks\n";

TEST(StragglersTest, ClocksConfirmTheRankThatBeginsLast) {
  TestTrace a;
  TestTrace b;
  a.Kernel(kKernel, {100, 50}).Kernel(kKernel, {200, 40});
  b.Kernel(kKernel, {130, 20}).Kernel(kKernel, {215, 22});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Clocks(tables), std::string(kClocksHead) + "1,48,45,agree\n0,0,0,-\n");
  EXPECT_EQ(Csv(tables[0], {"evidence"}),
            "evidence\n"
            "last in 2 of 2 collectives; the others waited 48 ns for it (100.0 % of all waiting)\n"
            "nobody waited for it in 2 collectives; it waited 48 ns for others\n");
}

TEST(StragglersTest, EqualBeginsContradictDifferentLengths) {
  TestTrace a;
  TestTrace b;
  TestTrace c;
  a.Kernel(kKernel, {100, 50});
  b.Kernel(kKernel, {100, 20});
  c.Kernel(kKernel, {99, 60});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1), &c.View(2)});
  EXPECT_EQ(Clocks(tables), std::string(kClocksHead) + "1,70,1,contradict\n0,0,0,-\n2,0,0,-\n");
  EXPECT_EQ(
      Texts(tables[0], "evidence")[0],
      "last in 1 of 1 collectives; the others waited 70 ns for it (100.0 % of all waiting), "
      "judged by the lengths of the calls; the recorded clocks do not show it (by them 1 ns)");
  EXPECT_EQ(Csv(tables[1], {"begin_skew_ns", "end_skew_ns"}), "begin_skew_ns,end_skew_ns\n1,39\n");
}

TEST(StragglersTest, ClocksThatAreApartConfirmNothing) {
  TestTrace a;
  TestTrace b;
  a.Kernel(kKernel, {100, 50});
  b.Kernel(kKernel, {9000, 20});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Clocks(tables), std::string(kClocksHead) + "1,30,30,apart\n0,0,0,-\n");
}

TEST(StragglersTest, RanksThatComeLastTogetherShareWhatClocksShow) {
  TestTrace a;
  TestTrace b;
  TestTrace c;
  a.Kernel(kKernel, {0, 10});
  b.Kernel(kKernel, {5, 10});
  c.Kernel(kKernel, {0, 25});
  EXPECT_EQ(Clocks(Analyse("stragglers", {&a.View(0), &b.View(1), &c.View(2)})),
            std::string(kClocksHead) + "0,8,3,contradict\n1,7,2,contradict\n2,0,0,-\n");
}

// 100 elements of 4 bytes in 20 ns are 20 GB/s, times 2 (2 - 1) / 2; with waiting 800 B in 70 ns.
TEST(StragglersTest, BandwidthWithoutWaitingIsThatOfTheShortestCall) {
  TestTrace a;
  TestTrace b;
  a.Kernel(kKernel, {100, 50}, {1, 20, 0}, AllReduce());
  b.Kernel(kKernel, {130, 20}, {1, 20, 0}, AllReduce());
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Csv(tables[2]),
            "collective,group,group_size,count,total_ns,shared_ns,waited_ns,wait_share,"
            "algo_gbps,shared_algo_gbps,bus_gbps,shared_bus_gbps,coverage,mean_begin_skew_ns,max_"
            "begin_skew_"
            "ns,mean_end_skew_ns,"
            "max_end_skew_ns\n"
            "all_reduce,0,2,1,70,20,30,0.428571,11.4286,20,11.4286,20,1,30,30,0,0\n");
}

TEST(StragglersTest, BandwidthIsWithheldWhereSizesAreMissing) {
  TestTrace a;
  TestTrace b;
  CollectiveArgs odd = AllReduce();
  odd.dtype = "Float12";
  a.Kernel(kKernel, {0, 80}, {1, 20, 0}, AllReduce()).Kernel(kKernel, {100, 20}, {2, 20, 0}, odd);
  b.Kernel(kKernel, {0, 80}, {1, 20, 0}, AllReduce()).Kernel(kKernel, {100, 20}, {2, 20, 0}, odd);
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Csv(tables[2], {"count", "shared_ns", "bus_gbps", "shared_bus_gbps", "coverage"}),
            "count,shared_ns,bus_gbps,shared_bus_gbps,coverage\n2,100,-,-,0.8\n");
}

TEST(StragglersTest, RanksThatComeLastTogetherShareTheBlame) {
  TestTrace a;
  TestTrace b;
  TestTrace c;
  a.Kernel(kKernel, {0, 10});
  b.Kernel(kKernel, {0, 10});
  c.Kernel(kKernel, {0, 25});
  EXPECT_EQ(
      Scores(Analyse("stragglers", {&a.View(0), &b.View(1), &c.View(2)})),
      std::string(kHead) + "0,0.533333,1,1,8,0,0,0\n1,0.466667,1,1,7,0,0,0\n2,0,1,0,0,15,0,0\n");
}

TEST(StragglersTest, NobodyIsLastWhenNobodyWaits) {
  TestTrace a;
  TestTrace b;
  a.Kernel(kKernel, {0, 10});
  b.Kernel(kKernel, {0, 10});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Scores(tables), std::string(kHead) + "0,0,1,0,0,0,0,0\n1,0,1,0,0,0,0,0\n");
  EXPECT_EQ(tables[1].rows(), 0U);
}

TEST(StragglersTest, OneRankIsMissingData) {
  TestTrace trace;
  trace.Kernel(kKernel, {0, 10});
  const AnalysisSpec* spec = FindAnalysis("stragglers");
  const Tables mapped = spec->answer.map(trace.View(), {}).value();
  const Result<Tables> finished = spec->answer.finish(mapped, {});
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().code, ErrorCode::kMissingData);
  EXPECT_NE(finished.error().Sentence().find("give the whole run"), std::string::npos);
}

// Sequence numbers hold where one recording begins later than the other.
TEST(StragglersTest, SequenceNumbersDecide) {
  TestTrace a;
  TestTrace b;
  for (int64_t i = 0; i < 6; ++i) {
    a.Kernel(kKernel, {100 * i, 10 + i}, {}, AllReduce(i));
    if (i >= 2) {
      b.Kernel(kKernel, {100 * i, 20 + i}, {}, AllReduce(i));
    }
  }
  EXPECT_EQ(Scores(Analyse("stragglers", {&a.View(0), &b.View(1)})),
            std::string(kHead) + "0,1,4,4,40,0,2,0\n1,0,4,0,0,40,0,0\n");
}

// Kernels of one sequence number are one collective.
TEST(StragglersTest, OneSequenceNumberOneCollective) {
  TestTrace a;
  TestTrace b;
  a.Kernel(kKernel, {0, 10}, {}, AllReduce(7)).Kernel(kKernel, {20, 10}, {}, AllReduce(7));
  b.Kernel(kKernel, {0, 30}, {}, AllReduce(7)).Kernel(kKernel, {40, 15}, {}, AllReduce(7));
  EXPECT_EQ(Scores(Analyse("stragglers", {&a.View(0), &b.View(1)})),
            std::string(kHead) + "0,1,1,1,25,0,0,0\n1,0,1,0,0,25,0,0\n");
}

void AddStep(TestTrace& trace, int64_t step, std::initializer_list<int64_t> durations) {
  const int64_t begin = 1000 * step;
  trace.Annotation("ProfilerStep#" + std::to_string(step), {begin, 1000});
  int64_t at = begin;
  for (const int64_t dur : durations) {
    at += 100;
    trace.Launched(kKernel, {at, 5}, {at + 50, dur}, {at, 20, 0});
  }
}

// A recording that is cut in one step is matched in the next as if nothing had happened; which of
// the calls of the cut step are missing is not known.
TEST(StragglersTest, StepsKeepCutRecordingsAligned) {
  TestTrace a;
  TestTrace b;
  AddStep(a, 4, {10, 11, 12});
  AddStep(a, 5, {13, 14});
  AddStep(b, 4, {20});
  AddStep(b, 5, {23, 24});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Scores(tables), std::string(kHead) + "0,1,2,2,20,0,3,0\n1,0,2,0,0,20,1,0\n");
  EXPECT_EQ(Csv(tables[1], {"step", "position", "last_rank", "caused_wait_ns"}),
            "step,position,last_rank,caused_wait_ns\n5,0,0,10\n5,1,0,10\n");
}

// What was launched before the recording ends with the same collective on all ranks.
TEST(StragglersTest, BeforeTheRecordingIsMatchedFromItsEnd) {
  TestTrace a;
  TestTrace b;
  for (TestTrace* trace : {&a, &b}) {
    trace->Launched(kKernel, {1000, 5}, {1100, 10}, {1, 20, 0});
  }
  a.Kernel(kKernel, {100, 5}, {91, 20, 0}).Kernel(kKernel, {200, 8}, {92, 20, 0});
  b.Kernel(kKernel, {200, 9}, {92, 20, 0});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Scores(tables), std::string(kHead) + "0,1,2,1,1,0,1,0\n1,0,2,0,0,1,0,0\n");
  EXPECT_EQ(Csv(tables[1], {"position", "caused_wait_ns"}), "position,caused_wait_ns\n-1,1\n");
}

TEST(StragglersTest, OnlyWhatEndsTogether) {
  TestTrace a;
  TestTrace b;
  for (TestTrace* trace : {&a, &b}) {
    const int64_t more = trace == &a ? 0 : 7;
    trace->Kernel("ncclDevKernel_Broadcast(x)", {0, 10 + more}, {}, {"broadcast", 1, 1});
    trace->Kernel("ncclDevKernel_SendRecv(x)", {50, 10 + more});
    trace->Kernel("ncclDevKernel_SendRecv(x)", {100, 10 + more}, {}, {"all_to_all", 1, 1});
    trace->Kernel("void vllm::cross_device_reduce_1stage<half, 2>(x)", {150, 10 + more});
    trace->Kernel("ncclDevKernel_Generic(x)", {200, 10 + more});
    trace->Kernel("gemm", {300, 10 + more});
  }
  EXPECT_EQ(Scores(Analyse("stragglers", {&a.View(0), &b.View(1)})),
            std::string(kHead) + "0,1,3,3,21,0,0,2\n1,0,3,0,0,21,0,2\n");
}

// Two groups of two ranks each that do the same never wait for each other.
TEST(StragglersTest, GroupsAreMatchedApart) {
  TestTrace traces[4];
  const RankView* views[4];
  for (int64_t rank = 0; rank < 4; ++rank) {
    CollectiveArgs args = AllReduce();
    args.members = rank < 2 ? "[0, 1]" : "[2, 3]";
    traces[rank].Kernel(kKernel, {0, 10 + 10 * rank}, {}, args);
    views[rank] = &traces[rank].View(rank);
  }
  EXPECT_EQ(Scores(Analyse("stragglers", {views[0], views[1], views[2], views[3]})),
            std::string(kHead) +
                "0,0.5,1,1,10,0,0,0\n2,0.5,1,1,10,0,0,0\n1,0,1,0,0,10,0,0\n3,0,1,0,0,10,0,0\n");
}

// Groups that cannot be distinguished hold more ranks than one group has: nobody is blamed.
TEST(StragglersTest, AmbiguousGroupsAreNotMatched) {
  TestTrace traces[3];
  const RankView* views[3];
  for (int64_t rank = 0; rank < 3; ++rank) {
    traces[rank].Kernel(kKernel, {0, 10 + 10 * rank}, {}, AllReduce());
    views[rank] = &traces[rank].View(rank);
  }
  const Tables tables = Analyse("stragglers", {views[0], views[1], views[2]});
  EXPECT_EQ(Scores(tables),
            std::string(kHead) + "0,-,0,0,0,0,1,0\n1,-,0,0,0,0,1,0\n2,-,0,0,0,0,1,0\n");
  EXPECT_EQ(Csv(Table{"", "", {*tables[0].Find("evidence")}}).substr(9, 63),
            "none of its 1 collectives could be matched with another rank\nno");
}

// A kernel that lost its arguments belongs to the group of its stream, whatever its number.
TEST(StragglersTest, StreamsTellTheGroup) {
  CollectiveArgs other = AllReduce();
  other.group = "1";
  TestTrace a;
  TestTrace b;
  a.Kernel(kKernel, {0, 10}, {1, 20, 0}).Kernel(kKernel, {50, 20}, {2, 21, 0});
  a.Kernel(kKernel, {100, 10}, {3, 20, 0}, AllReduce());
  a.Kernel(kKernel, {150, 20}, {4, 21, 0}, other);
  b.Kernel(kKernel, {0, 15}, {1, 33, 0}).Kernel(kKernel, {50, 25}, {2, 32, 0});
  b.Kernel(kKernel, {100, 15}, {3, 33, 0}, AllReduce());
  b.Kernel(kKernel, {150, 25}, {4, 32, 0}, other);
  EXPECT_EQ(Scores(Analyse("stragglers", {&a.View(0), &b.View(1)})),
            std::string(kHead) + "0,1,4,4,20,0,0,0\n1,0,4,0,0,20,0,0\n");
}

// Without sequence numbers a call that only one rank makes must not shift what follows.
TEST(StragglersTest, SizesKeepAnExtraCallFromShiftingOthers) {
  TestTrace a;
  TestTrace b;
  b.Kernel(kKernel, {0, 3}, {}, {"allreduce", 5, 5});
  for (TestTrace* trace : {&a, &b}) {
    for (const int64_t ts : {100, 300}) {
      trace->Kernel(kKernel, {ts, 50}, {}, {"allreduce", 1000, 1000});
      trace->Kernel(kKernel, {ts + 100, 5}, {}, {"allreduce", 100, 100});
    }
  }
  EXPECT_EQ(Scores(Analyse("stragglers", {&a.View(0), &b.View(1)})),
            std::string(kHead) + "0,0,4,0,0,0,0,0\n1,0,4,0,0,0,1,0\n");
}

// Which of equal calls the other rank did not make is not known: no waiting is invented.
TEST(StragglersTest, DifferentCountsAreNotMatchedByPlace) {
  TestTrace a;
  TestTrace b;
  a.Kernel(kKernel, {0, 50}).Kernel(kKernel, {100, 5});
  b.Kernel(kKernel, {0, 5}).Kernel(kKernel, {50, 50}).Kernel(kKernel, {100, 5});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Scores(tables), std::string(kHead) + "0,-,0,0,0,0,2,0\n1,-,0,0,0,0,3,0\n");
  EXPECT_EQ(tables[1].rows(), 0U);
}

// The share of uneven all-gathers that a rank brings is its own; what it gets is the same.
TEST(StragglersTest, SizesThatDifferBetweenRanksTellNothingApart) {
  TestTrace a;
  TestTrace b;
  a.Kernel("ncclDevKernel_AllGather(x)", {0, 10}, {}, {"allgather", 10, 30});
  b.Kernel("ncclDevKernel_AllGather(x)", {0, 15}, {}, {"allgather", 20, 30});
  a.Kernel("ncclDevKernel_SendRecv(x)", {50, 10}, {}, {"all_to_all", 10, 30});
  b.Kernel("ncclDevKernel_SendRecv(x)", {50, 15}, {}, {"all_to_all", 20, 40});
  EXPECT_EQ(Scores(Analyse("stragglers", {&a.View(0), &b.View(1)})),
            std::string(kHead) + "0,1,2,2,10,0,0,0\n1,0,2,0,0,10,0,0\n");
}

// With sequence numbers neither the place in the program nor the kernel matters.
TEST(StragglersTest, SequenceNumbersHoldAcrossSitesAndKernels) {
  TestTrace a;
  TestTrace b;
  for (TestTrace* trace : {&a, &b}) {
    const int64_t more = trace == &a ? 0 : 5;
    trace->Annotation(trace == &a ? "forward on rank 0" : "forward on rank 1", {0, 100});
    trace->Collective(AllReduce(3), {10, 50});
    trace->Launched(trace == &a ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
                                : "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(x)",
                    {20, 5}, {100, 10 + more}, {1, 20, 0});
  }
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Scores(tables), std::string(kHead) + "0,1,1,1,5,0,0,0\n1,0,1,0,0,5,0,0\n");
  EXPECT_EQ(Csv(tables[1], {"called_from", "kernel"}),
            "called_from,kernel\nforward on rank 0,ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)\n");
}

TEST(StragglersTest, NothingIsSaidOfWhatWasNotCompared) {
  TestTrace a;
  TestTrace b;
  a.Kernel("ncclDevKernel_Broadcast(x)", {0, 10}, {}, {"broadcast", 1, 1});
  b.Kernel("gemm", {0, 10});
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Csv(tables[0], {"rank", "score", "unmatched", "unused", "evidence"}),
            "rank,score,unmatched,unused,evidence\n"
            "0,-,0,1,nothing to compare: all its 1 communication kernels are of kinds that ranks "
            "leave one by one\n1,-,0,0,it has no collectives here\n");
}

TEST(StragglersTest, RanksThatWaitedCountOnce) {
  TestTrace traces[4];
  const RankView* views[4];
  for (int64_t rank = 0; rank < 4; ++rank) {
    CollectiveArgs args = AllReduce();
    args.members = rank < 2 ? "[0, 1]" : "[2, 3]";
    const int64_t late = rank == 0 ? 0 : 10;
    traces[rank].Kernel(kKernel, {0, 10 + late}, {}, args);
    traces[rank].Kernel(kKernel, {50, 10 + late}, {}, args);
    views[rank] = &traces[rank].View(rank);
  }
  EXPECT_EQ(Csv(Analyse("stragglers", {views[0], views[1], views[2], views[3]})[0],
                {"rank", "caused_wait_ns", "waiting_ranks"}),
            "rank,caused_wait_ns,waiting_ranks\n0,20,1\n1,0,0\n2,0,0\n3,0,0\n");
}

// The place of a launch distinguishes collectives of one kind, so that a missing one shifts no
// other.
TEST(StragglersTest, CallSitesKeepCutRecordingsAligned) {
  TestTrace a;
  TestTrace b;
  for (TestTrace* trace : {&a, &b}) {
    const int64_t more = trace == &a ? 0 : 5;
    for (const auto& [site, ts] : {std::pair{"## splits ##", 0}, {"## forward ##", 100}}) {
      if (trace == &a && ts == 0) {
        continue;
      }
      trace->Annotation(site, {ts, 50}).Op("c10d::alltoall_base_", {ts + 5, 40});
      trace->Op("record_param_comms", {ts + 10, 30});
      trace->Launched("ncclKernel_SendRecv(x)", {ts + 15, 5}, {ts + 40, 10 + more},
                      {ts + 1, 20, 0});
    }
  }
  const Tables tables = Analyse("stragglers", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Scores(tables), std::string(kHead) + "0,1,1,1,5,0,0,0\n1,0,1,0,0,5,1,0\n");
  EXPECT_EQ(Csv(tables[1], {"collective", "called_from"}),
            "collective,called_from\nall_to_all,## forward ##\n");
}

TEST(StragglersTest, SelectionsDoNotMoveWhatIsMatched) {
  TestTrace a;
  TestTrace b;
  AddStep(a, 4, {10, 11});
  AddStep(a, 5, {13, 14});
  AddStep(b, 4, {5, 6});
  AddStep(b, 5, {23, 24});
  Params params;
  params.selection.steps = NumberRanges::Parse("5").value();
  const RankView& view_a = a.View(0);
  const RankView& view_b = b.View(1);
  EXPECT_EQ(Scores(Analyse("stragglers", {&view_a, &view_b}, params)),
            std::string(kHead) + "0,1,2,2,20,0,0,0\n1,0,2,0,0,20,0,0\n");
  EXPECT_EQ(Scores(Analyse("stragglers", {&view_a, &view_b})),
            std::string(kHead) + "0,0.666667,4,2,20,10,0,0\n1,0.333333,4,2,10,20,0,0\n");
}

}  // namespace
}  // namespace borescope::internal
