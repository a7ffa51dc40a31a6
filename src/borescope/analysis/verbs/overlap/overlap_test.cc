#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";

// Compute [100,200) and [180,260) on two streams, communication [150,300) and [290,320) on two.
TestTrace Overlapping() {
  TestTrace trace;
  trace.Op("all", {0, 500});
  trace.Kernel("gemm", {100, 100}, {1, 7, 0}).Kernel("gemm", {180, 80}, {2, 8, 0});
  trace.Kernel(kNccl, {150, 150}, {3, 20, 0}).Kernel(kNccl, {290, 30}, {4, 21, 0});
  return trace;
}

TEST(OverlapTest, OverlappedAndExposedAreAllCommunication) {
  TestTrace trace = Overlapping();
  EXPECT_EQ(Csv(Analyse("overlap", {&trace.View()})[0]),
            "rank,gpu,comm_ns,overlapped_ns,exposed_ns,compute_ns,overlap_share\n"
            "0,0,170,110,60,160,0.647059\n");
}

// Other devices hide nothing; copies hide nothing.
TEST(OverlapTest, OnlyComputeOfTheSameDeviceHides) {
  TestTrace trace;
  trace.Kernel(kNccl, {0, 100}, {1, 7, 0}).Memcpy("Memcpy DtoD", {0, 100}, {2, 8, 0});
  trace.Kernel("gemm", {0, 100}, {3, 7, 1});
  EXPECT_EQ(Csv(Analyse("overlap", {&trace.View()})[0], {"gpu", "exposed_ns", "overlap_share"}),
            "gpu,exposed_ns,overlap_share\n0,100,0\n1,0,-\n");
}

TEST(OverlapTest, StepsClipAndTimeInNoStepHasARow) {
  TestTrace trace = Overlapping();
  trace.Annotation("ProfilerStep#1", {100, 100}).Annotation("ProfilerStep#2", {200, 95});
  Params params;
  params.by = {"step"};
  params.selection.step_rule = StepRule::kTime;
  EXPECT_EQ(Csv(Analyse("overlap", {&trace.View()}, params)[0],
                {"rank", "step", "gpu", "comm_ns", "overlapped_ns", "exposed_ns"}),
            "rank,step,gpu,comm_ns,overlapped_ns,exposed_ns\n"
            "0,1,0,50,50,0\n0,2,0,95,60,35\n0,-,0,25,0,25\n");
}

TEST(OverlapTest, WithoutCommunicationOrDeviceTheShareIsMissing) {
  TestTrace compute;
  compute.Kernel("gemm", {0, 10}, {1, 7, 0});
  TestTrace host;
  host.Op("f", {0, 10});
  EXPECT_EQ(Csv(Analyse("overlap", {&compute.View(0), &host.View(1)})[0]),
            "rank,gpu,comm_ns,overlapped_ns,exposed_ns,compute_ns,overlap_share\n"
            "0,0,0,0,0,10,-\n1,-,0,0,0,0,-\n");
}

TEST(OverlapTest, CollectivesOfAmdAreCommunication) {
  TestTrace trace;
  trace.Kernel("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", {0, 100}, {1, 0, 2});
  trace.Kernel("Cijk_Alik_Bljk_HHS_BH_MT128x128x16", {50, 100}, {2, 1, 2});
  EXPECT_EQ(Csv(Analyse("overlap", {&trace.View()})[0], {"gpu", "overlap_share"}),
            "gpu,overlap_share\n2,0.5\n");
}

}  // namespace
}  // namespace borescope::internal
