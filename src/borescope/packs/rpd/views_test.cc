// The views of an .rpd file on recordings small enough to work out by hand.
#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

Params AsRpd() {
  Params params;
  params.compat = Compat::kRpd;
  return params;
}

TEST(RpdTopTest, WorkAlikeInNameAndTimeCountsOnce) {
  TestTrace trace;
  trace.Kernel("nccl", {1000, 4000}, {1, 7, 0}).Kernel("nccl", {1000, 4000}, {2, 7, 1});
  trace.Kernel("gemm", {9000, 2000}, {3, 7, 0});
  EXPECT_EQ(Csv(Analyse("top", {&trace.View()}, AsRpd())[0]),
            "Name,TotalCalls,TotalDuration_us,Ave_us,Percentage\n"
            "nccl,1,4,4,40\n"
            "gemm,1,2,2,20\n");
  EXPECT_EQ(Csv(Analyse("top", {&trace.View()})[0], {"name", "count", "share"}),
            "name,count,share\nnccl,2,0.8\ngemm,1,0.2\n");
}

TEST(RpdTopTest, DivisionsCutOff) {
  TestTrace trace;
  trace.Kernel("k", {0, 1999}).Kernel("k", {5000, 1000});
  EXPECT_EQ(Csv(Analyse("top", {&trace.View()}, AsRpd())[0]),
            "Name,TotalCalls,TotalDuration_us,Ave_us,Percentage\nk,2,2,1.499,100\n");
}

TEST(RpdTopTest, OpsWithTheirTypes) {
  TestTrace trace;
  trace.Kernel("gemm", {20, 5}, {1, 0, 2}).Memcpy("CopyHostToDevice", {0, 10}, {2, 0, 2});
  trace.Kernel("Task", {30, 1}, {3, 0, 2});
  EXPECT_EQ(Csv(Analyse("top", {&trace.View()}, AsRpd())[1]),
            "rank,gpuId,queueId,start,end,description,opType\n"
            "0,2,0,0,10,,CopyHostToDevice\n"
            "0,2,0,20,25,gemm,-\n"
            "0,2,0,30,31,,Task\n");
}

TEST(RpdBusyTest, OverlapCountsTwiceAndTheWallIsThatOfAllDevices) {
  TestTrace trace;
  trace.Op("f", {0, 1000});  // time without device work is no part of the wall
  trace.Kernel("a", {100, 60}, {1, 7, 0}).Kernel("b", {100, 60}, {2, 9, 0});
  trace.Kernel("c", {190, 10}, {3, 7, 1});
  EXPECT_EQ(Csv(Analyse("busy", {&trace.View()}, AsRpd())[0]),
            "rank,gpuId,GpuTime,WallTime,Busy\n0,0,120,100,1.2\n0,1,10,100,0.1\n");
}

TEST(RpdKernelsTest, KtopIsTheTimeOfCalls) {
  TestTrace trace;
  const CollectiveArgs described{"allreduce"};  // a kernel with details
  trace.Runtime("hipLaunchKernel", {0, 3999}, 1).Kernel("k", {5000, 10}, {1, 0, 0}, described);
  trace.Runtime("hipLaunchKernel", {6000, 3000}, 2).Kernel("k", {9500, 10}, {2, 0, 0}, described);
  trace.Runtime("hipGraphLaunch", {20000, 1000}, 3).Kernel("node", {30000, 10}, {3, 0, 0});
  const Tables tables = Analyse("kernels", {&trace.View()}, AsRpd());
  EXPECT_EQ(Csv(tables[0]), "Name,TotalCalls,TotalDuration,Ave,Percentage\nk,2,6,3,100\n");
  EXPECT_EQ(Csv(tables[1], {"gpuId", "queueId", "start", "end", "duration", "kernelName"}),
            "gpuId,queueId,start,end,duration,kernelName\n"
            "0,0,5000,5010,10,k\n"
            "0,0,9500,9510,10,k\n");
}

TEST(RpdCopiesTest, CopiesWithoutArgumentsAreMissing) {
  TestTrace trace;
  trace.Runtime("hipMemcpyAsync", {0, 5}, 1).Memcpy("CopyHostToDevice", {10, 5}, {1, 0, 0}, 64);
  const Tables tables = Analyse("bandwidth", {&trace.View()}, AsRpd());
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].name, "copy");
  EXPECT_EQ(tables[0].rows() + tables[1].rows(), 0U);
}

TEST(RpdCallsTest, RangesAreCallsWithTheirTextAsArguments) {
  TestTrace trace;
  trace.Annotation("step", {0, 100}).Launched("k", {10, 5}, {20, 5}, {4, 0, 0});
  trace.Python("main", {0, 200});
  EXPECT_EQ(Csv(Analyse("launches", {&trace.View()}, AsRpd())[0]),
            "rank,id,pid,tid,start,end,domain,apiName,args\n"
            "0,-,1,1,0,100,UserMarker,UserMarker,step\n"
            "0,4,1,1,10,15,,cudaLaunchKernel,\n");
}

}  // namespace
}  // namespace borescope::internal
