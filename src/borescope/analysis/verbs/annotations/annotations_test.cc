#include <gtest/gtest.h>

#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

std::string Leaves(TestTrace& trace, const Params& params = {}) {
  return Csv(Analyse("annotations", {&trace.View()}, params)[1],
             {"side", "annotation", "name", "count", "total_ns"});
}

constexpr std::string_view kHead = "side,annotation,name,count,total_ns\n";

TEST(AnnotationsTest, BothSidesWithTheirWholeLength) {
  TestTrace trace;
  trace.Annotation("outer", {0, 100}).Annotation("inner", {10, 20}).Annotation("inner", {40, 40});
  trace.DeviceAnnotation("outer", {50, 200});
  EXPECT_EQ(Csv(Analyse("annotations", {&trace.View(3)})[0]),
            "rank,side,name,count,total_ns,mean_ns,min_ns,max_ns,stddev_ns\n"
            "3,device,outer,1,200,200,200,200,0\n"
            "3,host,outer,1,100,100,100,100,0\n"
            "3,host,inner,2,60,30,20,40,14.1421\n");
}

// Why nothing is under ranges that may end on another thread is said where it shows.
TEST(AnnotationsTest, RangesByStartAndEndSayWhyTheyAreEmpty) {
  TestTrace trace;
  trace.AsyncAnnotation("phase", {0, 100});
  trace.Launched("gemm", {10, 5}, {20, 30}, {.correlation = 1});
  const std::string title = Analyse("annotations", {&trace.View()})[1].title;
  EXPECT_NE(title.find("may end on another thread"), std::string::npos) << title;
  EXPECT_NE(title.find("--annotation NAME and --step-pattern"), std::string::npos) << title;
  trace.Annotation("inside", {5, 50});
  EXPECT_EQ(Analyse("annotations", {&trace.View()})[1].title, "Device work under each annotation");
}

TEST(AnnotationsTest, TheInnermostDeviceAnnotationOfTheStreamWins) {
  TestTrace trace;
  trace.DeviceAnnotation("outer", {0, 100}).DeviceAnnotation("inner", {20, 30});
  trace.DeviceAnnotation("other", {0, 100}, {kMissing, 9, 0});
  trace.Kernel("a", {10, 5}).Kernel("b", {20, 5}).Kernel("c", {49, 40});
  trace.Kernel("d", {50, 1}).Memcpy("Memcpy", {100, 5});
  trace.Kernel("e", {20, 5}, {kMissing, 7, 1});
  EXPECT_EQ(Leaves(trace), std::string(kHead) +
                               "device,inner,c,1,40\ndevice,inner,b,1,5\n"
                               "device,outer,a,1,5\nnone,-,Memcpy,1,5\nnone,-,e,1,5\n"
                               "device,outer,d,1,1\n");
}

// Of two that only overlap the one begun last holds the work, until it ends.
TEST(AnnotationsTest, OverlappingAnnotations) {
  TestTrace trace;
  trace.DeviceAnnotation("first", {0, 30}).DeviceAnnotation("second", {20, 40});
  trace.Kernel("a", {10, 1}).Kernel("b", {25, 2}).Kernel("c", {40, 3}).Kernel("d", {60, 4});
  EXPECT_EQ(Leaves(trace), std::string(kHead) +
                               "none,-,d,1,4\ndevice,second,c,1,3\ndevice,second,b,1,2\n"
                               "device,first,a,1,1\n");
}

// Rows that start together are ordered by length: neither that nor a length of zero matters.
TEST(AnnotationsTest, EqualStartsAndZeroLengths) {
  TestTrace trace;
  trace.DeviceAnnotation("short", {10, 5}).Kernel("long", {10, 50});
  trace.DeviceAnnotation("empty", {100, 0}).Kernel("nothing", {100, 0});
  trace.Kernel("after", {101, 2});
  EXPECT_EQ(Leaves(trace), std::string(kHead) +
                               "device,short,long,1,50\nnone,-,after,1,2\n"
                               "device,empty,nothing,1,0\n");
}

TEST(AnnotationsTest, ElseTheHostAnnotationAroundTheLaunch) {
  TestTrace trace;
  trace.Annotation("outer", {0, 100}).Annotation("inner", {10, 50}).Op("aten::mm", {20, 30});
  trace.Launched("a", {25, 5}, {200, 10}, {1, 7, 0});
  trace.Launched("b", {70, 5}, {220, 9}, {2, 7, 0});
  trace.Runtime("cudaLaunchKernel", {30, 5}, 3, 2).Kernel("other_thread", {240, 8}, {3, 7, 0});
  trace.Kernel("unlinked", {30, 7}, {99, 7, 0});
  trace.Runtime("cudaGraphLaunch", {80, 5}, 4);
  trace.Kernel("graph", {300, 3}, {4, 7, 0}).Kernel("graph", {310, 3}, {4, 7, 0});
  EXPECT_EQ(Leaves(trace), std::string(kHead) +
                               "host,inner,a,1,10\nhost,outer,b,1,9\nnone,-,other_thread,1,8\n"
                               "none,-,unlinked,1,7\nhost,outer,graph,2,6\n");
}

TEST(AnnotationsTest, EveryWorkCountsOnce) {
  TestTrace trace;
  trace.Annotation("x", {0, 100}).DeviceAnnotation("x", {10, 10}).DeviceAnnotation("x", {12, 5});
  for (int64_t i = 0; i < 50; ++i) {
    trace.Kernel("k", {i, 1}, {kMissing, i % 3, 0});
  }
  trace.Sync("Stream Sync", {0, 90}, {5, 7, 0});
  const Tables tables = Analyse("annotations", {&trace.View()});
  int64_t count = 0;
  for (const int64_t here : Ints(tables[1], "count")) {
    count += here;
  }
  EXPECT_EQ(count, 50);
}

// What is late on the device belongs to the step in which its work was launched.
TEST(AnnotationsTest, StepsAndSelections) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {0, 100}).Annotation("ProfilerStep#2", {100, 100});
  trace.Launched("a", {10, 5}, {130, 10}, {1, 7, 0});
  trace.Launched("b", {110, 5}, {150, 10}, {2, 7, 0});
  trace.DeviceAnnotation("late", {129, 12}).DeviceAnnotation("late", {149, 12});
  trace.DeviceAnnotation("bare", {180, 5});
  const RankView& view = trace.View();
  Params params;
  params.by = {"step"};
  EXPECT_EQ(Csv(Analyse("annotations", {&view}, params)[0], {"step", "side", "name", "total_ns"}),
            "step,side,name,total_ns\n1,host,ProfilerStep#1,100\n2,host,ProfilerStep#2,100\n"
            "1,device,late,12\n2,device,late,12\n-,device,bare,5\n");
  params.by = {};
  params.selection.steps = NumberRanges::Parse("1").value();
  const Tables tables = Analyse("annotations", {&view}, params);
  EXPECT_EQ(Csv(tables[0], {"side", "name", "count"}),
            "side,name,count\nhost,ProfilerStep#1,1\ndevice,late,1\n");
  EXPECT_EQ(Csv(tables[1], {"side", "annotation", "name", "count"}),
            "side,annotation,name,count\ndevice,late,a,1\n");
}

}  // namespace
}  // namespace borescope::internal
