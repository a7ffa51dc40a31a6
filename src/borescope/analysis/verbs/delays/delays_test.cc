#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kHead =
    "op,kernels,count,works,launch_delay_ns,runtime_ns,mean_launch_delay_ns,mean_runtime_ns\n";

std::string Delays(TestTrace& trace, const Params& params = {}) {
  return Csv(Analyse("delays", {&trace.View()}, params)[0]);
}

TEST(DelaysTest, FromOperatorToLaunchToKernel) {
  TestTrace trace;
  trace.Op("aten::mm", {100, 50}).Launched("gemm", {120, 10}, {160, 5}, {1, 7, 0});
  trace.Op("aten::mm", {200, 50}).Launched("gemm", {210, 10}, {280, 5}, {2, 7, 0});
  EXPECT_EQ(Delays(trace), std::string(kHead) + "aten::mm,gemm,2,2,30,110,15,55\n");
}

TEST(DelaysTest, TheFirstLaunchOfACallCounts) {
  TestTrace trace;
  trace.Op("aten::conv", {0, 100});
  trace.Launched("b", {40, 5}, {90, 5}, {2, 7, 0}).Launched("a", {10, 5}, {95, 5}, {1, 7, 0});
  EXPECT_EQ(Delays(trace), std::string(kHead) + "aten::conv,a -> b,1,2,10,85,10,85\n");
}

TEST(DelaysTest, PatternsOfOneOperatorStandApart) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 50}).Launched("a", {10, 5}, {20, 5}, {1, 7, 0});
  trace.Launched("b", {30, 5}, {40, 5}, {2, 7, 0});
  trace.Op("aten::mm", {100, 50}).Launched("a", {120, 5}, {130, 5}, {3, 7, 0});
  trace.Op("aten::mm", {200, 50}).Launched("b", {230, 5}, {240, 5}, {4, 7, 0});
  trace.Launched("a", {241, 5}, {250, 5}, {5, 7, 0});
  EXPECT_EQ(Csv(Analyse("delays", {&trace.View()})[0], {"kernels", "count", "launch_delay_ns"}),
            "kernels,count,launch_delay_ns\nb -> a,1,30\na,1,20\na -> b,1,10\n");
}

// Nested operators have their own launches; a launch goes to the innermost aten:: operator, past
// operators of other names, and to those only where there is no aten:: one.
TEST(DelaysTest, TheInnermostAtenOperatorElseTheInnermost) {
  TestTrace trace;
  trace.Op("outer", {0, 200}).Op("inner", {5, 190}).Launched("o", {8, 1}, {300, 1}, {1, 7, 0});
  trace.Op("aten::linear", {10, 100}).Launched("l", {11, 1}, {310, 1}, {2, 7, 0});
  trace.Op("aten::addmm", {20, 50}).Op("triton_fused", {30, 30});
  trace.Python("frame", {31, 20}).Annotation("region", {32, 15});
  trace.Launched("t", {33, 1}, {320, 1}, {3, 7, 0});
  EXPECT_EQ(Csv(Analyse("delays", {&trace.View()})[0], {"op", "kernels", "launch_delay_ns"}),
            "op,kernels,launch_delay_ns\naten::addmm,t,13\ninner,o,3\naten::linear,l,1\n");
}

TEST(DelaysTest, LaunchesElsewhereDoNotCount) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, {}, 1).Runtime("cudaLaunchKernel", {10, 5}, 1, 2);
  trace.Kernel("k", {20, 5}, {1, 7, 0});
  EXPECT_EQ(Delays(trace), std::string(kHead) + "(no operator),k,1,1,-,10,-,10\n");
}

TEST(DelaysTest, LaunchesOutsideStandForThemselves) {
  TestTrace trace;
  trace.Annotation("region", {0, 100}).Launched("a", {10, 5}, {20, 5}, {1, 7, 0});
  trace.Launched("a", {30, 5}, {50, 5}, {2, 7, 0}).Runtime("hipGraphLaunch", {60, 5}, 3);
  trace.Kernel("y", {80, 5}, {3, 7, 0}).Kernel("x", {70, 5}, {3, 7, 0});
  EXPECT_EQ(Delays(trace), std::string(kHead) +
                               "(no operator),a,2,2,-,30,-,15\n"
                               "(no operator),x -> y,1,2,-,10,-,10\n");
}

TEST(DelaysTest, AGraphLaunchInAnOperator) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 50}).Runtime("cudaGraphLaunch", {10, 5}, 1);
  trace.Kernel("b", {40, 5}, {1, 7, 0}).Kernel("a", {30, 5}, {1, 9, 0});
  EXPECT_EQ(Delays(trace), std::string(kHead) + "aten::mm,a -> b,1,2,10,20,10,20\n");
}

TEST(DelaysTest, WorkBeforeItsLaunchHasNoRuntime) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 50}).Launched("k", {20, 5}, {10, 5}, {1, 7, 0});
  EXPECT_EQ(Delays(trace), std::string(kHead) + "aten::mm,k,1,1,20,0,20,0\n");
}

TEST(DelaysTest, WorkWithoutLaunchIsListed) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 50}).Launched("k", {20, 5}, {30, 5}, {1, 7, 0});
  trace.Kernel("orphan", {60, 5}, {98, 7, 0}).Kernel("orphan", {70, 5}, {99, 7, 0});
  EXPECT_EQ(Delays(trace), std::string(kHead) +
                               "aten::mm,k,1,1,20,10,20,10\n"
                               "(launch not recorded),orphan,2,2,-,-,-,-\n");
}

TEST(DelaysTest, OperatorsThatOnlyCallOthersAreNotListed) {
  TestTrace trace;
  trace.Op("aten::linear", {0, 100}).Op("aten::mm", {10, 50});
  trace.Launched("k", {20, 5}, {30, 5}, {1, 7, 0}).Runtime("cudaLaunchKernel", {70, 5}, 2);
  EXPECT_EQ(Delays(trace), std::string(kHead) + "aten::mm,k,1,1,10,10,10,10\n");
}

TEST(DelaysTest, WindowsSelectByTheLaunch) {
  TestTrace trace;
  trace.Annotation("part", {0, 25}, 2).Op("aten::mm", {0, 50});
  trace.Launched("a", {20, 5}, {90, 5}, {1, 7, 0}).Launched("b", {30, 5}, {99, 5}, {2, 7, 0});
  Params params;
  params.selection.annotation = "part";
  EXPECT_EQ(Delays(trace, params), std::string(kHead) + "aten::mm,a,1,1,20,70,20,70\n");
}

TEST(DelaysTest, RanksMergeByOperatorAndKernels) {
  TestTrace a;
  a.Op("aten::mm", {0, 50}).Launched("k", {20, 5}, {30, 5}, {1, 7, 0});
  TestTrace b;
  b.Op("aten::mm", {0, 50}).Launched("k", {10, 5}, {40, 5}, {1, 7, 0});
  b.Op("aten::add", {60, 50}).Launched("k", {70, 5}, {80, 5}, {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("delays", {&b.View(1), &a.View(0)})[0]),
            std::string(kHead) + "aten::mm,k,2,2,30,40,15,20\naten::add,k,1,1,10,10,10,10\n");
}

TEST(DelaysTest, NothingLaunched) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 50});
  EXPECT_EQ(Delays(trace), kHead);
}

}  // namespace
}  // namespace borescope::internal
