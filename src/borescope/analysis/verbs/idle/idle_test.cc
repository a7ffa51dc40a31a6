#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kUs = 1000;
constexpr std::string_view kPartsHead =
    "span_ns,busy_ns,idle_ns,host_wait_ns,kernel_wait_ns,other_ns,unlinked_ns,head_ns,tail_ns,"
    "gaps\n";

Span Us(int64_t ts_us, int64_t dur_us) { return {ts_us * kUs, dur_us * kUs}; }

// Gaps of 20 us (launched after 10 us of it), 10 us (in time), 50 us (in time, long) and 30 us (not
// known) on one stream, whose work is from 10 to 200 us of 300.
TestTrace FourCauses() {
  TestTrace trace;
  trace.Op("all", Us(0, 300));
  trace.Launched("a", Us(1, 2), Us(10, 10), {1, 7, 0});
  trace.Launched("b", Us(30, 2), Us(40, 10), {2, 7, 0});
  trace.Launched("c", Us(33, 2), Us(60, 10), {3, 7, 0});
  trace.Launched("d", Us(36, 2), Us(120, 10), {4, 7, 0});
  trace.Kernel("e", Us(160, 40), {99, 7, 0});
  return trace;
}

std::string Parts(const Tables& tables) {
  return Csv(tables[3], {"span_ns", "busy_ns", "idle_ns", "host_wait_ns", "kernel_wait_ns",
                         "other_ns", "unlinked_ns", "head_ns", "tail_ns", "gaps"});
}

TEST(IdleTest, EveryGapHasOneCauseAndThePartsAddUp) {
  TestTrace trace = FourCauses();
  const Tables tables = Analyse("idle", {&trace.View()});
  EXPECT_EQ(Parts(tables), std::string(kPartsHead) +
                               "300000,80000,220000,10000,20000,50000,30000,10000,100000,4\n");
  EXPECT_EQ(Csv(tables[3], {"rank", "gpu", "stream", "idle_share"}),
            "rank,gpu,stream,idle_share\n0,0,7,0.733333\n");
  EXPECT_EQ(Csv(tables[0], {"idle_ns", "host_ns"}), "idle_ns,host_ns\n220000,10000\n");
}

TEST(IdleTest, IntervalsDescribeTheGapsOfEachCause) {
  TestTrace trace = FourCauses();
  trace.Launched("f", Us(150, 2), Us(202, 1), {5, 7, 0});
  EXPECT_EQ(Csv(Analyse("idle", {&trace.View()})[4]),
            "rank,gpu,stream,cause,count,total_ns,mean_ns,stddev_ns,min_ns,p25_ns,p50_ns,p75_ns,"
            "max_ns\n"
            "0,0,7,host_wait,1,10000,10000,0,10000,10000,10000,10000,10000\n"
            "0,0,7,kernel_wait,3,22000,7333.33,4618.8,2000,6000,10000,10000,10000\n"
            "0,0,7,other,1,50000,50000,0,50000,50000,50000,50000,50000\n"
            "0,0,7,unlinked,1,30000,30000,0,30000,30000,30000,30000,30000\n");
}

TEST(IdleTest, KernelWaitIsShorterThanTheLimit) {
  TestTrace trace = FourCauses();
  const RankView& view = trace.View();
  Params params;
  params.values.push_back({kKernelWaitParam.name, 10 * kUs, ""});
  EXPECT_EQ(Csv(Analyse("idle", {&view}, params)[3], {"kernel_wait_ns", "other_ns"}),
            "kernel_wait_ns,other_ns\n0,70000\n");
  params.values[0].number = 50 * kUs + 1;
  EXPECT_EQ(Csv(Analyse("idle", {&view}, params)[3], {"kernel_wait_ns", "other_ns"}),
            "kernel_wait_ns,other_ns\n70000,0\n");
}

// A launch at the very moment the gap begins is in time.
TEST(IdleTest, HostWaitEndsAtTheLaunch) {
  TestTrace trace;
  trace.Launched("a", {0, 2}, {10, 10}, {1, 7, 0});
  trace.Launched("b", {20, 2}, {25, 5}, {2, 7, 0}).Launched("c", {31, 2}, {40, 5}, {3, 7, 0});
  EXPECT_EQ(Csv(Analyse("idle", {&trace.View()})[3], {"host_wait_ns", "kernel_wait_ns"}),
            "host_wait_ns,kernel_wait_ns\n1,14\n");
}

TEST(IdleTest, OfWorksThatBeginTogetherTheOneLaunchedFirstDecides) {
  TestTrace trace;
  trace.Launched("a", {0, 2}, {10, 10}, {1, 7, 0});
  trace.Launched("late", {30, 2}, {50, 30}, {2, 7, 0});
  trace.Launched("in time", {5, 2}, {50, 20}, {3, 7, 0});
  trace.Kernel("unknown", {50, 40}, {99, 7, 0});
  EXPECT_EQ(Csv(Analyse("idle", {&trace.View()})[3], {"kernel_wait_ns", "gaps"}),
            "kernel_wait_ns,gaps\n30,1\n");
}

TEST(IdleTest, OverlappingWorkLeavesNoGap) {
  TestTrace trace;
  trace.Launched("long", {0, 2}, {10, 90}, {1, 7, 0});
  trace.Launched("inside", {3, 2}, {20, 10}, {2, 7, 0});
  trace.Launched("next", {6, 2}, {105, 10}, {3, 7, 0});
  EXPECT_EQ(Parts(Analyse("idle", {&trace.View()})),
            std::string(kPartsHead) + "115,100,15,0,5,0,0,10,0,1\n");
}

// Clocks of whole microseconds: the work in between was launched in time, the one after it late.
TEST(IdleTest, WorkWithoutLengthEndsAGap) {
  TestTrace trace;
  trace.Launched("a", {0, 2}, {10, 10}, {1, 7, 0});
  trace.Launched("short", {5, 2}, {40, 0}, {2, 7, 0});
  trace.Launched("b", {50, 2}, {60, 10}, {3, 7, 0});
  EXPECT_EQ(Parts(Analyse("idle", {&trace.View()})),
            std::string(kPartsHead) + "70,20,50,10,30,0,0,10,0,2\n");
}

TEST(IdleTest, WorkBeforeItsLaunchWaitsForTheHost) {
  TestTrace trace;
  trace.Launched("a", {0, 2}, {10, 10}, {1, 7, 0}).Launched("b", {70, 2}, {50, 10}, {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("idle", {&trace.View()})[3], {"host_wait_ns"}), "host_wait_ns\n30\n");
}

TEST(IdleTest, StreamsAndDevicesStandAlone) {
  TestTrace trace;
  trace.Op("all", {0, 100}).Runtime("hipGraphLaunch", {0, 5}, 1);
  trace.Kernel("a", {10, 10}, {1, 0, 2}).Kernel("b", {30, 10}, {1, 0, 2});
  trace.Kernel("c", {15, 5}, {1, 3, 2}).Kernel("d", {90, 10}, {1, 0, 4});
  trace.Sync("Stream Sync", {20, 60}, {9, 0, 2}).DeviceAnnotation("all", {0, 100}, {9, 5, 2});
  EXPECT_EQ(Csv(Analyse("idle", {&trace.View()})[3],
                {"gpu", "stream", "busy_ns", "kernel_wait_ns", "head_ns", "tail_ns"}),
            "gpu,stream,busy_ns,kernel_wait_ns,head_ns,tail_ns\n"
            "2,0,20,10,10,60\n2,3,5,0,15,80\n4,0,10,0,90,0\n");
}

TEST(IdleTest, WindowsCutGapsThatAreDividedAsAWhole) {
  TestTrace trace = FourCauses();
  trace.Annotation("part", Us(5, 30)).Annotation("part", Us(80, 10)).Annotation("part", Us(95, 5));
  Params params;
  params.selection.annotation = "part";
  const Tables tables = Analyse("idle", {&trace.View()}, params);
  EXPECT_EQ(Parts(tables),
            std::string(kPartsHead) + "45000,10000,35000,10000,5000,15000,0,5000,0,2\n");
  EXPECT_EQ(Csv(tables[4], {"cause", "count", "total_ns"}),
            "cause,count,total_ns\nhost_wait,1,10000\nkernel_wait,1,5000\nother,1,15000\n");
}

TEST(IdleTest, StepsAndTimeInNoStepAddUpToTheWhole) {
  TestTrace trace = FourCauses();
  trace.Annotation("ProfilerStep#3", Us(0, 35)).Annotation("ProfilerStep#4", Us(35, 50));
  Params params;
  params.by = {"step"};
  params.selection.step_rule = StepRule::kTime;
  const RankView& view = trace.View();
  const Tables tables = Analyse("idle", {&view}, params);
  EXPECT_EQ(Csv(tables[3],
                {"step", "stream", "span_ns", "host_wait_ns", "other_ns", "head_ns", "tail_ns"}),
            "step,stream,span_ns,host_wait_ns,other_ns,head_ns,tail_ns\n"
            "3,7,35000,10000,0,10000,0\n4,7,50000,0,15000,0,0\n-,7,215000,0,35000,0,100000\n");
  EXPECT_EQ(Csv(tables[4]), Csv(Analyse("idle", {&view})[4]));
  params.selection.steps = NumberRanges::Parse("4").value();
  EXPECT_EQ(Csv(Analyse("idle", {&view}, params)[3], {"step", "idle_ns"}),
            "step,idle_ns\n4,30000\n");
}

std::string Gaps(const Tables& tables, std::initializer_list<std::string_view> columns) {
  return Csv(tables[2], columns);
}

// The first half of the third gap is the host's, and the other the latency of the launch.
TEST(IdleTest, TheLongestGapsComeFirst) {
  TestTrace trace = FourCauses();
  const Tables tables = Analyse("idle", {&trace.View()});
  EXPECT_EQ(tables[2].name, "longest_gaps");
  EXPECT_EQ(Gaps(tables, {"rank", "step", "gpu", "place", "begin_ns", "duration_ns", "share",
                          "cause", "cause_time_ns"}),
            "rank,step,gpu,place,begin_ns,duration_ns,share,cause,cause_time_ns\n"
            "0,-,0,1,70000,50000,0.166667,latency,50000\n"
            "0,-,0,2,130000,30000,0.1,unknown,30000\n"
            "0,-,0,3,20000,20000,0.0666667,host,10000\n"
            "0,-,0,4,50000,10000,0.0333333,latency,10000\n");
  EXPECT_EQ(Gaps(tables, {"before", "after", "stream", "launch", "launch_begin_ns"}),
            "before,after,stream,launch,launch_begin_ns\n"
            "c,d,7,cudaLaunchKernel,36000\n"
            "d,e,7,-,-\n"
            "a,b,7,cudaLaunchKernel,30000\n"
            "b,c,7,cudaLaunchKernel,33000\n");
}

TEST(IdleTest, TheLongestGapsSayWhatTheHostDid) {
  TestTrace trace = FourCauses();
  trace.Annotation("ProfilerStep#1", Us(-1, 301));
  trace.Python("collate", Us(20, 9)).Runtime("cudaMalloc", Us(75, 40));
  const Tables tables = Analyse("idle", {&trace.View()});
  EXPECT_EQ(Gaps(tables, {"activity", "host", "host_time_ns", "op"}),
            "activity,host,host_time_ns,op\n"
            "call,cudaMalloc,40000,all\n"
            "-,-,-,-\n"  // nobody knows which thread
            "event,all,20000,all\n"
            "event,all,10000,all\n");
}

// That is all but a number, and only what is known of less than half of the gap.
TEST(IdleTest, AStepSaysNothingAboutWhatTheHostDid) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 300)).Launched("a", Us(1, 2), Us(10, 10), {1, 7, 0});
  trace.Op("short", Us(30, 40)).Launched("b", Us(120, 2), Us(130, 10), {2, 7, 0});
  EXPECT_EQ(Gaps(Analyse("idle", {&trace.View()}), {"activity", "host", "host_time_ns", "op"}),
            "activity,host,host_time_ns,op\n-,-,-,-\n");
}

TEST(IdleTest, EachStepHasItsLongestGap) {
  TestTrace trace = FourCauses();
  trace.Annotation("ProfilerStep#3", Us(0, 32)).Annotation("ProfilerStep#4", Us(32, 100));
  const RankView& view = trace.View();
  Params params;
  params.values.push_back({kLongestParam.name, 1, ""});
  EXPECT_EQ(Gaps(Analyse("idle", {&view}, params), {"step", "place", "begin_ns", "duration_ns"}),
            "step,place,begin_ns,duration_ns\n4,1,70000,50000\n3,3,20000,20000\n");
  params.values[0].number = 0;
  params.selection.steps = NumberRanges::Parse("3").value();
  EXPECT_EQ(Gaps(Analyse("idle", {&view}, params), {"step", "place", "begin_ns", "duration_ns"}),
            "step,place,begin_ns,duration_ns\n3,1,20000,20000\n");
}

TEST(IdleTest, AGapCountsWithWhatIsSelectedOfIt) {
  TestTrace trace = FourCauses();
  trace.Annotation("part", Us(25, 8)).Annotation("part", Us(80, 10)).Annotation("part", Us(95, 5));
  Params params;
  params.selection.annotation = "part";
  EXPECT_EQ(Gaps(Analyse("idle", {&trace.View()}, params),
                 {"place", "begin_ns", "duration_ns", "cause", "cause_time_ns"}),
            "place,begin_ns,duration_ns,cause,cause_time_ns\n"
            "1,80000,15000,latency,15000\n2,25000,8000,host,5000\n");
}

TEST(IdleTest, TheLongestGapsOfAllRanksTogether) {
  TestTrace a = FourCauses();
  TestTrace b = FourCauses();
  b.Launched("f", Us(201, 2), Us(240, 10), {5, 7, 0});  // a gap of 40 us
  Params params;
  params.values.push_back({kLongestParam.name, 2, ""});
  EXPECT_EQ(
      Gaps(Analyse("idle", {&b.View(1), &a.View(0)}, params), {"rank", "place", "duration_ns"}),
      "rank,place,duration_ns\n0,1,50000\n1,1,50000\n1,2,40000\n0,2,30000\n");
}

TEST(IdleTest, SelectedStreamsAlone) {
  TestTrace trace = FourCauses();
  trace.Kernel("other", Us(100, 10), {98, 9, 0});
  Params params;
  params.selection.streams = NumberRanges::Parse("9").value();
  EXPECT_EQ(Csv(Analyse("idle", {&trace.View()}, params)[3], {"stream", "busy_ns"}),
            "stream,busy_ns\n9,10000\n");
}

TEST(IdleTest, ARankWithoutDeviceWorkHasOneRow) {
  TestTrace trace;
  trace.Op("f", {0, 100});
  const Tables tables = Analyse("idle", {&trace.View(3)});
  EXPECT_EQ(Csv(tables[3], {"rank", "gpu", "stream", "idle_ns", "head_ns", "gaps"}),
            "rank,gpu,stream,idle_ns,head_ns,gaps\n3,-,-,100,100,0\n");
  EXPECT_EQ(tables[4].rows(), 0u);
}

TEST(IdleTest, WorkWithoutLengthOnly) {
  TestTrace trace;
  trace.Op("f", {0, 100}).Kernel("a", {20, 0}, {1, 7, 0}).Kernel("b", {50, 0}, {2, 7, 0});
  EXPECT_EQ(Parts(Analyse("idle", {&trace.View()})),
            std::string(kPartsHead) + "100,0,100,0,0,0,30,20,50,1\n");
}

TEST(IdleTest, RanksStandInOrder) {
  TestTrace a = FourCauses();
  TestTrace b = FourCauses();
  const Tables tables = Analyse("idle", {&b.View(1), &a.View(0)});
  EXPECT_EQ(Csv(tables[3], {"rank", "other_ns"}), "rank,other_ns\n0,50000\n1,50000\n");
  EXPECT_EQ(tables[4].rows(), 8u);
}

}  // namespace
}  // namespace borescope::internal
