#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// What most tests look at.
std::string Numbers(const Tables& tables) {
  return Csv(tables[0], {"name", "calls", "self_host_ns", "total_host_ns", "self_device_ns",
                         "total_device_ns", "share"});
}

TEST(OpsTest, SelfLooksThroughFramesAndKeepsLaunches) {
  TestTrace trace;
  trace.Op("outer", {0, 100}).Python("frame", {10, 60}).Op("inner", {20, 40});
  trace.Launched("k", {30, 5}, {200, 50}, {1, 7, 0}).Launched("k", {80, 5}, {250, 30}, {2, 7, 0});
  EXPECT_EQ(Numbers(Analyse("ops", {&trace.View()})),
            "name,calls,self_host_ns,total_host_ns,self_device_ns,total_device_ns,share\n"
            "inner,1,40,40,50,50,0.625\n"
            "outer,1,60,100,30,80,0.375\n");
}

TEST(OpsTest, RecursionIsNotCountedTwice) {
  TestTrace trace;
  trace.Op("f", {0, 100}).Op("f", {10, 50}).Op("g", {20, 20}).Op("f", {25, 10});
  trace.Launched("k", {27, 2}, {200, 40}, {1, 7, 0});
  EXPECT_EQ(Numbers(Analyse("ops", {&trace.View()})),
            "name,calls,self_host_ns,total_host_ns,self_device_ns,total_device_ns,share\n"
            "f,3,90,100,40,40,1\n"
            "g,1,10,20,0,40,0\n");
}

TEST(OpsTest, WorkWithoutOperatorIsListed) {
  TestTrace trace;
  trace.Op("f", {0, 10}).Launched("k", {20, 5}, {100, 40}, {1, 7, 0}).Kernel("lost", {200, 2});
  EXPECT_EQ(Numbers(Analyse("ops", {&trace.View()})),
            "name,calls,self_host_ns,total_host_ns,self_device_ns,total_device_ns,share\n"
            "(no operator),0,0,0,42,42,1\n"
            "f,1,10,10,0,0,0\n");
}

TEST(OpsTest, ShapesSplitAndRanksMerge) {
  TestTrace a;
  a.Op("mm", {0, 10}, {1, kMissing, kMissing, "[[1]]"}).Op("mm", {20, 30}, {2, 0, 0, "[[2]]"});
  TestTrace b;
  b.Op("mm", {0, 5}, {1, kMissing, kMissing, "[[1]]"});
  Params params;
  params.by = {"shape"};
  EXPECT_EQ(Csv(Analyse("ops", {&a.View(0), &b.View(1)}, params)[0],
                {"name", "shapes", "calls", "self_host_ns"}),
            "name,shapes,calls,self_host_ns\nmm,[[2]],1,30\nmm,[[1]],2,15\n");
}

TEST(OpsTest, WindowKeepsWorkLaunchedInsideByAnOperatorThatBeganBefore) {
  TestTrace trace;
  trace.Op("long", {0, 100}).Annotation("w", {50, 40}).Op("inside", {60, 10});
  trace.Launched("k", {20, 2}, {200, 5}, {1, 7, 0}).Launched("k", {80, 2}, {210, 7}, {2, 7, 0});
  Params params;
  params.selection.annotation = "w";
  EXPECT_EQ(Numbers(Analyse("ops", {&trace.View()}, params)),
            "name,calls,self_host_ns,total_host_ns,self_device_ns,total_device_ns,share\n"
            "long,0,0,0,7,7,1\n"
            "inside,1,10,10,0,0,0\n");
}

TEST(OpsTest, WithoutDeviceWorkThereIsNoShareOfIt) {
  TestTrace a;
  TestTrace b;
  a.Op("f", {0, 10});
  b.Op("f", {0, 10}).Op("g", {20, 5});
  EXPECT_EQ(Csv(Analyse("ops", {&a.View(0), &b.View(1)})[0], {"name", "self_host_ns", "share"}),
            "name,self_host_ns,share\nf,20,-\ng,5,-\n");
}

TEST(OpsTest, TimeThatOperatorsShareWithoutNestingBelongsToTheLater) {
  TestTrace trace;
  trace.Op("first", {0, 50}).Op("second", {40, 30});
  EXPECT_EQ(Csv(Analyse("ops", {&trace.View()})[0], {"name", "self_host_ns", "total_host_ns"}),
            "name,self_host_ns,total_host_ns\nfirst,40,50\nsecond,30,30\n");
}

// Two Linear, of which one is called twice, and a ReLU in a Block.
TestTrace Modules() {
  TestTrace trace;
  trace.Python("nn.Module: Block_0", {0, 200});
  trace.Python("nn.Module: Linear_0", {10, 30}).Op("aten::mm", {15, 20});
  trace.Python("nn.Module: Linear_1", {50, 30}).Op("aten::mm", {55, 20});
  trace.Python("nn.Module: Linear_0", {90, 30}).Op("aten::mm", {95, 20});
  trace.Python("nn.Module: ReLU_0", {130, 30}).Op("aten::relu", {135, 20});
  trace.Op("aten::add", {170, 10}).Op("aten::mm", {300, 10});
  trace.Launched("gemm", {20, 2}, {400, 10}, {1, 7, 0});
  trace.Launched("gemm", {60, 2}, {420, 20}, {2, 7, 0});
  trace.Launched("gemm", {100, 2}, {450, 30}, {3, 7, 0});
  trace.Launched("relu", {140, 2}, {500, 5}, {4, 7, 0});
  trace.Launched("add", {172, 2}, {510, 3}, {5, 7, 0});
  trace.Launched("gemm", {302, 2}, {520, 1}, {6, 7, 0});
  return trace;
}

TEST(OpsTest, ModulesAreGroupedByClass) {
  TestTrace a = Modules();
  TestTrace b = Modules();
  Params params;
  params.by = {"module"};
  const std::initializer_list<std::string_view> columns = {"module", "name", "instances", "calls",
                                                           "self_device_ns"};
  EXPECT_EQ(Csv(Analyse("ops", {&a.View(0)}, params)[0], columns),
            "module,name,instances,calls,self_device_ns\n"
            "Linear,aten::mm,2,3,60\nReLU,aten::relu,1,1,5\nBlock,aten::add,1,1,3\n"
            "-,aten::mm,-,1,1\n");
  EXPECT_EQ(Csv(Analyse("ops", {&a.View(0), &b.View(1)}, params)[0], columns),
            "module,name,instances,calls,self_device_ns\n"
            "Linear,aten::mm,4,6,120\nReLU,aten::relu,2,2,10\nBlock,aten::add,2,2,6\n"
            "-,aten::mm,-,2,2\n");
}

TEST(OpsTest, ModulesByThemselves) {
  TestTrace trace = Modules();
  Params params;
  params.by = {"module-instance"};
  EXPECT_EQ(Csv(Analyse("ops", {&trace.View()}, params)[0],
                {"module_instance", "name", "calls", "self_device_ns"}),
            "module_instance,name,calls,self_device_ns\n"
            "nn.Module: Linear_0,aten::mm,2,40\nnn.Module: Linear_1,aten::mm,1,20\n"
            "nn.Module: ReLU_0,aten::relu,1,5\nnn.Module: Block_0,aten::add,1,3\n"
            "-,aten::mm,1,1\n");
}

constexpr std::string_view kTwoByThree = "[[2, 3], [3, 4]]";

std::string Flops(const Tables& tables) { return Csv(tables[0], {"name", "calls", "flops"}); }

// matmul and mm both have a formula; the kernel is mm's. The second matmul launches by itself.
TEST(OpsTest, FlopsCountOnceForTheInnermostOperatorWithAFormula) {
  TestTrace trace;
  const OpArgs args{.dims = std::string(kTwoByThree)};
  trace.Op("aten::matmul", {0, 100}, args).Op("aten::mm", {10, 50}, args).Op("mine", {20, 30});
  trace.Launched("k", {30, 2}, {200, 40}, {1, 7, 0}).Launched("k", {40, 2}, {250, 1}, {2, 7, 0});
  trace.Op("aten::matmul", {110, 10}, args).Launched("k", {112, 2}, {260, 5}, {3, 7, 0});
  trace.Op("aten::mm", {130, 10}, args);
  EXPECT_EQ(Flops(Analyse("ops", {&trace.View()})),
            "name,calls,flops\nmine,1,-\naten::matmul,2,48\naten::mm,2,48\n");
}

// The bias of a linear layer, say, added by a kernel of its own.
TEST(OpsTest, ACompositeOperatorDoesNotCountBesideThoseInside) {
  TestTrace trace;
  const OpArgs args{.dims = std::string(kTwoByThree)};
  trace.Op("aten::matmul", {0, 100}, args).Op("aten::mm", {10, 50}, args);
  trace.Launched("k", {30, 2}, {200, 40}, {1, 7, 0}).Launched("k", {70, 2}, {250, 1}, {2, 7, 0});
  EXPECT_EQ(Flops(Analyse("ops", {&trace.View()})),
            "name,calls,flops\naten::mm,1,48\naten::matmul,1,-\n");
}

// The bias of a product is not what takes its time; `roofline` and `prof` say the same number.
TEST(OpsTest, FlopsOfAProductAreThoseOfItsMatrices) {
  TestTrace trace;
  trace.Op("aten::addmm", {0, 100}, OpArgs{.dims = "[[4], [2, 3], [3, 4]]"});
  trace.Launched("k", {30, 2}, {200, 40}, {1, 7, 0});
  EXPECT_EQ(Flops(Analyse("ops", {&trace.View()})), "name,calls,flops\naten::addmm,1,48\n");
}

TEST(OpsTest, WithoutDeviceWorkTheInnerOperatorsCount) {
  TestTrace trace;
  const OpArgs args{.dims = std::string(kTwoByThree)};
  trace.Op("aten::matmul", {0, 100}, args).Op("aten::mm", {10, 50}, args).Op("aten::mm", {70, 9});
  EXPECT_EQ(Flops(Analyse("ops", {&trace.View()})),
            "name,calls,flops\naten::mm,2,48\naten::matmul,1,-\n");
}

}  // namespace
}  // namespace borescope::internal
