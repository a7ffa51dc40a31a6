#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

TestTrace Work() {
  TestTrace trace;
  trace.Annotation("part", {0, 100});
  trace.Launched("gemm", {10, 5}, {100, 40}, {1, 7, 0});
  trace.Kernel("gemm", {100, 40}, {2, 9, 0});  // alike, at the same time, on another stream
  trace.Memcpy("CopyHostToDevice", {200, 60}, {3, 7, 0}, 4096);
  trace.Memset({300, 20}, {4, 7, 0});
  trace.Kernel("nothing", {400, 0}, {5, 7, 1});
  trace.Sync("Context Sync", {0, 500}, {6, 7, 0});
  return trace;
}

TEST(TopTest, AllDeviceWorkByNameAndNoWaits) {
  TestTrace trace = Work();
  EXPECT_EQ(Csv(Analyse("top", {&trace.View()})[0]),
            "name,kind,count,total_ns,mean_ns,min_ns,max_ns,stddev_ns,share\n"
            "gemm,kernel,2,80,40,40,40,0,0.5\n"
            "CopyHostToDevice,memcpy,1,60,60,60,60,0,0.375\n"
            "Memset (Device),memset,1,20,20,20,20,0,0.125\n"
            "nothing,kernel,1,0,0,0,0,0,0\n");
}

TEST(TopTest, ANameOfTwoKindsHasTwoRows) {
  TestTrace trace;
  trace.Kernel("copy", {0, 10}).Memcpy("copy", {10, 30});
  EXPECT_EQ(Csv(Analyse("top", {&trace.View()})[0], {"name", "kind", "total_ns"}),
            "name,kind,total_ns\ncopy,memcpy,30\ncopy,kernel,10\n");
}

TEST(TopTest, SelectionAndKeysAsInKernels) {
  TestTrace trace = Work();
  Params params;
  params.selection.annotation = "part";
  EXPECT_EQ(Csv(Analyse("top", {&trace.View()}, params)[0], {"name", "count"}),
            "name,count\ngemm,1\n");
  params = {};
  params.by = {"gpu"};
  EXPECT_EQ(Csv(Analyse("top", {&trace.View()}, params)[0], {"gpu", "name", "count"}),
            "gpu,name,count\n0,gemm,2\n0,CopyHostToDevice,1\n0,Memset (Device),1\n1,nothing,1\n");
}

TEST(TopTest, RanksMergeByName) {
  TestTrace a = Work();
  TestTrace b;
  b.Kernel("gemm", {0, 100});
  EXPECT_EQ(Csv(Analyse("top", {&a.View(0), &b.View(1)})[0], {"name", "count", "total_ns"}),
            "name,count,total_ns\ngemm,3,180\nCopyHostToDevice,1,60\nMemset (Device),1,20\n"
            "nothing,1,0\n");
}

}  // namespace
}  // namespace borescope::internal
