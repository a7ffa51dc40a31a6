#include <gtest/gtest.h>

#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

TestTrace Training() {
  TestTrace trace;
  trace.Annotation("ProfilerStep#5", {0, 1000});
  trace.Op("aten::mm", {10, 90}, {1, kMissing, kMissing, "[[2, 3]]"});
  trace.Launched("gemm", {20, 5}, {200, 10}, {1, 7, 0});
  trace.Op("autograd::engine::evaluate_function: MmBackward0", {110, 90}, {}, 2);
  trace.Runtime("cudaLaunchKernel", {120, 5}, 2, 2).Kernel("gemm", {210, 30}, {2, 7, 0});
  trace.Annotation("Optimizer.step#SGD.step", {300, 100});
  trace.Launched("void multi_tensor_apply_kernel<x>(y)", {310, 5}, {400, 20}, {3, 7, 0});
  trace.Kernel("unlinked", {500, 40}, {99, 9, 0});
  trace.Memcpy("Memcpy DtoH (Device -> Pinned)", {600, 50}, {98, 9, 0});
  return trace;
}

TEST(KernelsTest, CountsEveryKernelAndSortsByTime) {
  TestTrace trace = Training();
  const Tables tables = Analyse("kernels", {&trace.View()});
  EXPECT_EQ(Csv(tables[0]),
            "name,class,count,total_ns,mean_ns,min_ns,max_ns,stddev_ns,share\n"
            "gemm,gemm,2,40,20,10,30,14.1421,0.4\n"
            "unlinked,other,1,40,40,40,40,0,0.4\n"
            "void multi_tensor_apply_kernel<x>(y),optimizer,1,20,20,20,20,0,0.2\n");
  EXPECT_EQ(Csv(tables[1]),
            "class,count,total_ns,share\ngemm,2,40,0.4\nother,1,40,0.4\noptimizer,1,20,0.2\n");
}

TEST(KernelsTest, AllAddsCopies) {
  TestTrace trace = Training();
  Params params;
  params.all = true;
  EXPECT_EQ(Csv(Analyse("kernels", {&trace.View()}, params)[1], {"class", "total_ns"}),
            "class,total_ns\ncopy,50\ngemm,40\nother,40\noptimizer,20\n");
}

TEST(KernelsTest, KeysComeFromTheLaunch) {
  TestTrace trace = Training();
  Params params;
  params.by = {"op", "phase", "step", "rank", "stream"};
  EXPECT_EQ(Csv(Analyse("kernels", {&trace.View()}, params)[0],
                {"rank", "step", "stream", "phase", "name", "op", "total_ns"}),
            "rank,step,stream,phase,name,op,total_ns\n"
            "0,-,9,other,unlinked,-,40\n"
            "0,5,7,backward,gemm,autograd::engine::evaluate_function: MmBackward0,30\n"
            "0,5,7,optimizer,void multi_tensor_apply_kernel<x>(y),-,20\n"
            "0,5,7,forward,gemm,aten::mm,10\n");
}

// Kernels of one class count a module once, however many of its kernels are of that class.
TEST(KernelsTest, ModulesAreGroupedByClass) {
  TestTrace trace;
  trace.Python("nn.Module: Linear_0", {0, 50}).Python("nn.Module: Linear_1", {60, 50});
  trace.Launched("ampere_sgemm_1", {10, 2}, {200, 10}, {1, 7, 0});
  trace.Launched("ampere_sgemm_2", {20, 2}, {220, 20}, {2, 7, 0});
  trace.Launched("ampere_sgemm_1", {70, 2}, {250, 30}, {3, 7, 0});
  trace.Kernel("lost", {300, 5});
  Params params;
  params.by = {"module"};
  const Tables tables = Analyse("kernels", {&trace.View()}, params);
  EXPECT_EQ(Csv(tables[0], {"module", "name", "instances", "count", "total_ns"}),
            "module,name,instances,count,total_ns\nLinear,ampere_sgemm_1,2,2,40\n"
            "Linear,ampere_sgemm_2,1,1,20\n-,lost,-,1,5\n");
  EXPECT_EQ(Csv(tables[1], {"module", "class", "instances", "count", "total_ns"}),
            "module,class,instances,count,total_ns\nLinear,gemm,2,3,60\n-,other,-,1,5\n");
  params.by = {"module", "module-instance"};
  EXPECT_EQ(Csv(Analyse("kernels", {&trace.View()}, params)[1],
                {"module", "module_instance", "class", "instances", "total_ns"}),
            "module,module_instance,class,instances,total_ns\n"
            "Linear,nn.Module: Linear_0,gemm,1,30\nLinear,nn.Module: Linear_1,gemm,1,30\n"
            "-,-,other,-,5\n");
}

TEST(KernelsTest, SelectionGoesByTheLaunch) {
  TestTrace trace = Training();
  trace.Annotation("window", {0, 100});
  Params params;
  params.selection.annotation = "window";
  EXPECT_EQ(Csv(Analyse("kernels", {&trace.View()}, params)[0], {"name", "total_ns"}),
            "name,total_ns\ngemm,10\n");
}

TEST(KernelsTest, RanksMergeByName) {
  TestTrace a = Training();
  TestTrace b = Training();
  TestTrace c;
  c.Kernel("gemm", {0, 100});
  const RankView* views[] = {&a.View(0), &b.View(1), &c.View(2)};
  const Table table = Analyse("kernels", {views[0], views[1], views[2]})[0];
  EXPECT_EQ(Csv(table, {"name", "count", "total_ns", "min_ns", "max_ns", "stddev_ns"}),
            "name,count,total_ns,min_ns,max_ns,stddev_ns\n"
            "gemm,5,180,10,100,37.1484\n"
            "unlinked,2,80,40,40,0\n"
            "void multi_tensor_apply_kernel<x>(y),2,40,20,20,0\n");
  // Any tree of reduces gives the same tables.
  const AnalysisSpec* spec = FindAnalysis("kernels");
  const Params params;
  std::vector<Tables> left = {spec->PipelineFor(params).map(*views[0], params).value(),
                              spec->PipelineFor(params).map(*views[1], params).value()};
  std::vector<Tables> tree = {spec->PipelineFor(params).reduce(left, params).value(),
                              spec->PipelineFor(params).map(*views[2], params).value()};
  const Tables other = spec->PipelineFor(params)
                           .finish(spec->PipelineFor(params).reduce(tree, params).value(), params)
                           .value();
  EXPECT_EQ(Csv(other[0]), Csv(table));
}

TEST(KernelsTest, CategoriesOfOwnPatterns) {
  TestTrace trace;
  trace.Kernel("gemm_a", {0, 10}).Kernel("gemm_b", {20, 30}).Kernel("gemm_b", {60, 40});
  trace.Kernel("add", {120, 20}, {kMissing, 9, 0});
  Params params;
  params.values.push_back({"patterns", 1, "file", R"({"all": ["."], "gemm": ["^gemm"]})"});
  EXPECT_EQ(Csv(Analyse("kernels", {&trace.View()}, params)[2]),
            "category,kernels,count,total_ns,mean_ns,share\n"
            "gemm,2,3,80,26.6667,0.8\nall,1,1,20,20,0.2\n");
  params.by = {"stream", "op"};
  EXPECT_EQ(Csv(Analyse("kernels", {&trace.View()}, params)[2], {"stream", "category", "kernels"}),
            "stream,category,kernels\n7,gemm,2\n9,all,1\n");
  EXPECT_EQ(Analyse("kernels", {&trace.View()}).size(), 2U);
}

TEST(KernelsTest, NamesOfSeveralRanksAreCountedOnce) {
  TestTrace first;
  first.Kernel("a", {0, 10});
  TestTrace second;
  second.Kernel("a", {0, 10}).Kernel("b", {20, 20});
  Params params;
  params.values.push_back({"patterns", 1, "file", "{}"});
  EXPECT_EQ(Csv(Analyse("kernels", {&first.View(0), &second.View(1)}, params)[2]),
            "category,kernels,count,total_ns,mean_ns,share\n(none),2,3,40,13.3333,1\n");
}

}  // namespace
}  // namespace borescope::internal
