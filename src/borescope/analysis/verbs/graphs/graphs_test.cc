#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

enum TableOfGraphs : uint8_t { kLaunches, kKernels, kCaptures };

std::string Launches(const Tables& tables) {
  return Csv(tables[kLaunches],
             {"graph", "told_by", "launches", "works", "host_ns", "mean_delay_ns", "span_ns",
              "min_span_ns", "max_span_ns", "device_ns", "gap_ns"});
}

constexpr std::string_view kHead =
    "graph,told_by,launches,works,host_ns,mean_delay_ns,span_ns,min_span_ns,max_span_ns,device_ns,"
    "gap_ns\n";

// A launch at `at` of two kernels with a gap of 10 between them.
void Launch(TestTrace& trace, int64_t at, int64_t number, int64_t length) {
  trace.Runtime("cudaGraphLaunch", {at, 5}, number);
  trace.Kernel("gemm", {at + 20, length}, {number, 7, 0});
  trace.Kernel("relu", {at + 30 + length, 4}, {number, 7, 0});
}

TEST(GraphsTest, LaunchesOfOneGraph) {
  TestTrace trace;
  Launch(trace, 0, 1, 50);
  Launch(trace, 1000, 2, 70);
  trace.Launched("alone", {2000, 5}, {2010, 26}, {3, 7, 0});
  const Tables tables = Analyse("graphs", {&trace.View(2)});
  EXPECT_EQ(Launches(tables), std::string(kHead) +
                                  "0,kernels,2,4,10,15,148,64,84,128,20\n"
                                  "-,(no graph),-,1,-,-,-,-,-,26,-\n");
  EXPECT_EQ(Csv(tables[kLaunches], {"rank", "works_per_launch", "mean_span_ns", "share"}),
            "rank,works_per_launch,mean_span_ns,share\n2,2,74,0.831169\n2,-,-,0.168831\n");
  EXPECT_EQ(Csv(tables[kKernels]),
            "rank,graph,position,node,name,class,launches,total_ns,mean_ns,min_ns,max_ns,"
            "mean_gap_before_ns\n"
            "2,0,0,-,gemm,gemm,2,120,60,50,70,0\n"
            "2,0,1,-,relu,pointwise,2,8,4,4,4,10\n");
  EXPECT_EQ(tables[kCaptures].rows(), 0U);
}

TEST(GraphsTest, GraphsAreToldApartByTheirWorkWhateverItsOrder) {
  TestTrace trace;
  trace.Runtime("hipGraphLaunch", {0, 5}, 1).Kernel("a", {10, 5}, {1, 7, 0});
  trace.Kernel("b", {10, 8}, {1, 8, 0});
  trace.Runtime("hipGraphLaunch", {100, 5}, 2).Kernel("b", {110, 8}, {2, 8, 0});
  trace.Kernel("a", {112, 5}, {2, 7, 0});
  trace.Runtime("hipGraphLaunch", {200, 5}, 3).Kernel("a", {210, 5}, {3, 7, 0});
  trace.Kernel("a", {216, 5}, {3, 7, 0});
  const Tables tables = Analyse("graphs", {&trace.View()});
  EXPECT_EQ(Csv(tables[kLaunches], {"graph", "launches", "works", "device_ns", "gap_ns"}),
            "graph,launches,works,device_ns,gap_ns\n0,2,4,26,0\n1,1,2,10,1\n-,-,0,0,-\n");
  EXPECT_EQ(
      Csv(tables[kKernels], {"graph", "position", "name", "launches", "total_ns"}),
      "graph,position,name,launches,total_ns\n0,0,a,2,10\n0,1,b,2,16\n1,0,a,1,5\n1,1,a,1,5\n");
}

TEST(GraphsTest, ALaunchWhoseWorkWasNotRecorded) {
  TestTrace trace;
  Launch(trace, 0, 1, 50);
  trace.Runtime("cudaGraphLaunch", {500, 7}, 9);
  EXPECT_EQ(Launches(Analyse("graphs", {&trace.View()})), std::string(kHead) +
                                                              "0,kernels,1,2,5,15,64,64,64,54,10\n"
                                                              "1,nothing,1,0,7,-,-,-,-,0,-\n"
                                                              "-,(no graph),-,0,-,-,-,-,-,0,-\n");
}

TEST(GraphsTest, TheCallOfTheDriverInsideIsNoSecondLaunch) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", {0, 10}, 1).Runtime("cuGraphLaunch", {2, 6}, 1);
  trace.Kernel("k", {20, 5}, {1, 7, 0});
  trace.Runtime("cudaGraphLaunch", {50, 10}, 2).Runtime("cuGraphLaunch", {52, 6}, 3);
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()})[kLaunches], {"graph", "launches", "host_ns"}),
            "graph,launches,host_ns\n0,1,6\n1,1,10\n-,-,-\n");
}

TEST(GraphsTest, WorkThatStartsTogetherIsNoGap) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", {0, 50}, 1).Kernel("a", {10, 30}, {1, 7, 0});
  trace.Kernel("b", {10, 5}, {1, 8, 0}).Kernel("c", {20, 5}, {1, 8, 0});
  const Tables tables = Analyse("graphs", {&trace.View()});
  EXPECT_EQ(Launches(tables), std::string(kHead) +
                                  "0,kernels,1,3,50,0,30,30,30,40,0\n"
                                  "-,(no graph),-,0,-,-,-,-,-,0,-\n");
  EXPECT_EQ(Csv(tables[kKernels], {"name", "mean_gap_before_ns"}),
            "name,mean_gap_before_ns\na,0\nb,0\nc,0\n");
}

TEST(GraphsTest, SelectedStreamsAndWindows) {
  TestTrace trace;
  trace.Annotation("w", {900, 300});
  Launch(trace, 0, 1, 50);
  Launch(trace, 1000, 2, 70);
  trace.Kernel("side", {1020, 9}, {2, 8, 0});
  Params params;
  params.selection.annotation = "w";
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()}, params)[kLaunches], {"launches", "device_ns"}),
            "launches,device_ns\n1,83\n-,0\n");
  params.selection.streams = *NumberRanges::Parse("8");
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()}, params)[kLaunches], {"launches", "device_ns"}),
            "launches,device_ns\n1,9\n-,0\n");
}

// Two launches of one graph, cut by a selection.
TEST(GraphsTest, AGraphIsTheSameWhateverIsSelectedOfIt) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", {0, 5}, 1).Kernel("a", {10, 5}, {1, 7, 0});
  trace.Kernel("b", {20, 8}, {1, 8, 0});
  trace.Runtime("cudaGraphLaunch", {100, 5}, 2).Kernel("a", {110, 5}, {2, 7, 0});
  trace.Kernel("b", {120, 8}, {2, 8, 0});
  Params params;
  params.selection.range = *TimeRange::Parse("", "115ns");
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()}, params)[kLaunches],
                {"graph", "launches", "works", "device_ns"}),
            "graph,launches,works,device_ns\n0,2,3,18\n-,-,0,0\n");
}

// A and B share what runs on stream 7.
TEST(GraphsTest, GraphsThatDifferOutsideTheSelectionStayApart) {
  TestTrace trace;
  Launch(trace, 0, 1, 50);
  Launch(trace, 1000, 2, 50);
  trace.Kernel("side", {1020, 9}, {2, 8, 0});
  Params params;
  params.selection.streams = *NumberRanges::Parse("7");
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()}, params)[kLaunches], {"graph", "launches"}),
            "graph,launches\n0,1\n1,1\n-,-\n");
}

TEST(GraphsTest, ARankWithoutGraphsHasItsDeviceTime) {
  TestTrace trace;
  trace.Launched("k", {0, 5}, {10, 5}, {1, 7, 0});
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()})[kLaunches], {"told_by", "works", "share"}),
            "told_by,works,share\n(no graph),1,1\n");
}

TEST(GraphsTest, Captures) {
  TestTrace trace;
  trace.Runtime("cudaStreamBeginCapture", {0, 2}).Runtime("cuStreamBeginCapture_v2", {0, 1});
  trace.Runtime("cudaLaunchKernel", {10, 2}, 1).Runtime("cuLaunchKernel", {11, 1}, 2);
  trace.Runtime("cudaMemcpyAsync", {20, 2}, 3, 2);  // another thread
  trace.Runtime("cudaStreamEndCapture", {30, 5}).Runtime("cudaLaunchKernel", {36, 1}, 4);
  trace.Runtime("cudaGraphInstantiate", {40, 9});
  trace.Runtime("hipStreamBeginCapture", {60, 1}).Launched("k", {62, 2}, {70, 5}, {5, 7, 0});
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()})[kCaptures]),
            "rank,thread,begin_ns,capture_ns,captured,instantiate_ns\n"
            "0,1,0,35,2,9\n"
            "0,1,60,-,-,-\n");
}

TEST(GraphsTest, ALaunchBelongsToTheCaptureBegunLastOfThoseAroundIt) {
  TestTrace trace;
  trace.Runtime("cudaStreamBeginCapture", {0, 1}).Runtime("cudaLaunchKernel", {5, 1}, 1);
  trace.Runtime("cudaLaunchKernel", {50, 1}, 2).Runtime("cudaStreamEndCapture", {99, 1});
  trace.Runtime("cudaStreamBeginCapture", {10, 1}, kMissing, 2);
  trace.Runtime("cudaLaunchKernel", {12, 1}, 3, 2).Runtime("cudaLaunchKernel", {14, 1}, 4, 2);
  trace.Runtime("cudaStreamEndCapture", {19, 1}, kMissing, 2);
  trace.Runtime("cudaLaunchKernel", {200, 1}, 5, 2);
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()})[kCaptures], {"thread", "captured"}),
            "thread,captured\n1,2\n2,2\n");
}

TEST(GraphsTest, CapturesThatBeginTogether) {
  TestTrace trace;
  trace.Runtime("cudaStreamBeginCapture", {0, 1}).Runtime("cudaLaunchKernel", {50, 1}, 1);
  trace.Runtime("cudaStreamEndCapture", {99, 1});
  trace.Runtime("cudaStreamBeginCapture", {0, 1}, kMissing, 2);
  trace.Runtime("cudaLaunchKernel", {5, 1}, 2, 2);
  trace.Runtime("cudaStreamEndCapture", {9, 1}, kMissing, 2);
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()})[kCaptures], {"thread", "captured"}),
            "thread,captured\n1,1\n2,1\n");
}

TEST(GraphsTest, HalvesOfCaptures) {
  TestTrace trace;
  trace.Runtime("cudaStreamEndCapture", {5, 5}).Runtime("hipGraphInstantiate", {20, 3});
  trace.Runtime("hipGraphInstantiate", {30, 4});
  trace.Runtime("hipStreamBeginCapture", {40, 1}, kMissing, 2);
  EXPECT_EQ(Csv(Analyse("graphs", {&trace.View()})[kCaptures]),
            "rank,thread,begin_ns,capture_ns,captured,instantiate_ns\n"
            "0,1,5,-,-,3\n0,1,30,-,-,4\n0,2,40,-,-,-\n");
}

}  // namespace
}  // namespace borescope::internal
