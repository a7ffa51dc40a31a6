#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/packs/inductor/generated_code.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

std::string Fused(std::string_view kernel) {
  std::string text;
  for (const std::string_view op : FusedOps(kernel)) {
    text += (text.empty() ? "" : " ") + std::string(op);
  }
  return text;
}

TEST(InductorNamesTest, NamesListTheFusedOperators) {
  EXPECT_EQ(Fused("triton_red_fused_add_mean_mul_pow_rsqrt_0"), "add mean mul pow rsqrt");
  EXPECT_EQ(Fused("triton_poi_fused__unsafe_view_mul_silu_2"), "_unsafe_view mul silu");
  EXPECT_EQ(Fused("triton_red_fused__native_batch_norm_legit_functional_16"),
            "_native_batch_norm_legit_functional");
  EXPECT_EQ(Fused("triton_per_fused__to_copy_native_layer_norm_backward_3"),
            "_to_copy native_layer_norm_backward");
  EXPECT_EQ(Fused("triton_poi_fused_add_0_0d1d2de"), "add");
  EXPECT_EQ(Fused("triton_poi_fused__foo_bar_7"), "_foo bar");
  EXPECT_EQ(Fused("triton_poi_fused_0"), "");
  EXPECT_EQ(Fused("triton_poi_fused_"), "");
  EXPECT_EQ(Fused("triton_x_fused_0d"), "");
  EXPECT_EQ(Fused("triton__0d1d2d"), "");
  EXPECT_EQ(Fused("my_fused_kernel"), "");
}

TEST(InductorNamesTest, OnlyASpecialisationIsCutOff) {
  EXPECT_EQ(WithoutSpecialisation("triton__0d1d2d3de4"), "triton_");
  EXPECT_EQ(WithoutSpecialisation("triton_poi_fused_silu_2"), "triton_poi_fused_silu_2");
  EXPECT_EQ(WithoutSpecialisation("triton_poi_fused_silu_012"), "triton_poi_fused_silu_012");
  EXPECT_EQ(WithoutSpecialisation("triton_poi_fused_silu_1d2d"), "triton_poi_fused_silu_1d2d");
  EXPECT_EQ(WithoutSpecialisation("x_"), "x_");
}

TEST(InductorNamesTest, CategoriesFollowFromNameClassAndLauncher) {
  const auto category = [](std::string_view name, bool by_triton = false) {
    return InductorCategoryName(InductorCategoryOf(name, ClassifyKernel(name), by_triton));
  };
  EXPECT_EQ(category("triton_poi_fused_add_0"), "triton_pointwise");
  EXPECT_EQ(category("triton_red_fused_add_0"), "triton_reduction");
  EXPECT_EQ(category("triton_per_fused_add_0"), "triton_persistent_reduction");
  EXPECT_EQ(category("triton_tem_fused_mm_0"), "triton_template");
  EXPECT_EQ(category("triton_for_fused_0"), "triton_foreach");
  EXPECT_EQ(category("triton_spl_fused_cumsum_0"), "triton_split_scan");
  EXPECT_EQ(category("triton__0d1d2d"), "triton_other");
  EXPECT_EQ(category("my_kernel", true), "triton_user");
  EXPECT_EQ(category("my_kernel"), "other");
  EXPECT_EQ(category("ampere_sgemm_32x32_tn"), "gemm");
  EXPECT_EQ(category("attn_fwd"), "attention");
  EXPECT_EQ(category("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"), "collective");
  EXPECT_EQ(category("void at::native::vectorized_elementwise_kernel<4>(int)"), "aten");
}

// Two graphs with a kernel of the same name each, a kernel of the user, a library kernel and a
// copy.
TestTrace& Compiled(TestTrace& trace) {
  trace.Op("triton_poi_fused_add_0", {0, 10}, {.triton_file = "/cache/a.py"});
  trace.Op("triton_poi_fused_add_0", {20, 10}, {.triton_file = "/cache/b.py"});
  trace.Op("mine", {40, 10}, {.triton_file = "/model.py"}).Op("aten::mm", {60, 10});
  trace.Launched("triton_poi_fused_add_0", {1, 2}, {100, 10}, {1, 7, 0});
  trace.Launched("triton_poi_fused_add_0", {21, 2}, {110, 20}, {2, 7, 0});
  trace.Launched("mine", {41, 2}, {130, 30}, {3, 7, 0});
  trace.Launched("ampere_sgemm_128x64_nn", {61, 2}, {160, 30}, {4, 7, 0});
  trace.Memcpy("Memcpy HtoD", {190, 10}, {5, 7, 0});
  trace.DeviceAnnotation("region", {100, 100});
  return trace;
}

// A Triton launch at 20 * i that moves `bytes`, with its kernel.
void Generated(TestTrace& trace, const std::string& kernel, int64_t i, int64_t bytes) {
  trace.Op(kernel, {20 * i, 10}, {.triton_file = "/cache/a.py", .triton_bytes = bytes});
  trace.Launched(kernel, {20 * i + 1, 2}, {100 + 10 * i, 10}, {i + 1, 7, 0});
}

TEST(InductorTest, BytesAreThoseOfTheLaunches) {
  TestTrace trace;
  Generated(trace, "triton_poi_fused_add_0", 0, 100);
  Generated(trace, "triton_poi_fused_add_0", 1, 300);
  trace.Launched("other", {25, 2}, {160, 15}, {9, 7, 0});  // also below the second operator
  const Tables tables = Analyse("inductor", {&trace.View()});
  EXPECT_EQ(Csv(tables[1], {"kernel", "calls", "moved_bytes"}),
            "kernel,calls,moved_bytes\ntriton_poi_fused_add_0,2,400\nother,1,-\n");
}

TEST(InductorTest, BytesOfSomeCallsAreNotThoseOfAll) {
  TestTrace trace;
  Generated(trace, "triton_poi_fused_add_0", 0, 100);
  Generated(trace, "triton_poi_fused_add_0", 1, kMissing);
  const Tables tables = Analyse("inductor", {&trace.View()});
  EXPECT_EQ(Csv(tables[1], {"kernel", "calls", "moved_bytes"}),
            "kernel,calls,moved_bytes\ntriton_poi_fused_add_0,2,-\n");
}

// A graph launches many kernels at once: each moves what all launches of its name move.
TEST(InductorTest, BytesOfReplayedKernelsAreThoseOfTheirName) {
  TestTrace trace;
  Generated(trace, "triton_poi_fused_add_0", 0, 100);
  Generated(trace, "triton_poi_fused_mul_1", 1, 100);
  Generated(trace, "triton_poi_fused_mul_1", 2, 800);
  trace.Launched("triton_poi_fused_add_0", {81, 2}, {160, 15}, {7, 7, 0});
  trace.Launched("triton_poi_fused_mul_1", {85, 2}, {180, 15}, {8, 7, 0});
  const Tables tables = Analyse("inductor", {&trace.View()});
  EXPECT_EQ(Csv(tables[1], {"kernel", "calls", "moved_bytes"}),
            "kernel,calls,moved_bytes\ntriton_poi_fused_mul_1,3,-\ntriton_poi_fused_add_0,2,200\n");
}

TEST(InductorTest, KernelsOfDifferentFilesStayApart) {
  TestTrace trace;
  const Tables tables = Analyse("inductor", {&Compiled(trace).View()});
  EXPECT_EQ(Csv(tables[0]),
            "category,kernels,calls,total_ns,share_of_device,share_of_wall\n"
            "gemm,1,1,30,0.3,0.15\n"
            "triton_pointwise,1,2,30,0.3,0.15\n"
            "triton_user,1,1,30,0.3,0.15\n"
            "copy,1,1,10,0.1,0.05\n");
  EXPECT_EQ(Csv(tables[1],
                {"category", "kernel", "calls", "total_ns", "share_of_wall", "origins", "source"}),
            "category,kernel,calls,total_ns,share_of_wall,origins,source\n"
            "gemm,ampere_sgemm_128x64_nn,1,30,0.15,aten::mm,-\n"
            "triton_user,mine,1,30,0.15,mine,/model.py\n"
            "triton_pointwise,triton_poi_fused_add_0,1,20,0.1,add,/cache/b.py\n"
            "copy,Memcpy HtoD,1,10,0.05,-,-\n"
            "triton_pointwise,triton_poi_fused_add_0,1,10,0.05,add,/cache/a.py\n");
  EXPECT_EQ(Csv(tables[2]), "wall_ns,busy_ns,work_ns,busy_share,memory_gbps\n200,100,100,0.5,-\n");
}

// A graph launches kernels without their operators; a single file with that name decides.
TEST(InductorTest, KernelsOfGraphsAreJoinedByNameUnlessFilesDiffer) {
  TestTrace trace;
  trace.Op("triton_red_fused_sum_1", {0, 10}, {.triton_file = "/cache/a.py"});
  trace.Op("triton_poi_fused_add_0", {20, 10}, {.triton_file = "/cache/b.py"});
  trace.Op("triton_poi_fused_add_0", {40, 10}, {.triton_file = "/cache/c.py"});
  trace.Launched("triton_red_fused_sum_1", {60, 2}, {100, 10}, {1, 7, 0});
  trace.Kernel("triton_poi_fused_add_0", {110, 5}, {1, 7, 0});
  EXPECT_EQ(Csv(Analyse("inductor", {&trace.View()})[1], {"kernel", "source"}),
            "kernel,source\n"
            "triton_red_fused_sum_1,/cache/a.py\n"
            "triton_poi_fused_add_0,-\n");
}

TEST(InductorTest, WallTimeOfRunsIsTheBaseOfShares) {
  TestTrace trace;
  Params params;
  params.values = {{.name = kWallParam.name, .number = 50, .text = ""},
                   {.name = kRunsParam.name, .number = 2, .text = ""}};
  const RankView& view = Compiled(trace).View();
  EXPECT_EQ(Csv(Analyse("inductor", {&view}, params)[2], {"wall_ns", "busy_share"}),
            "wall_ns,busy_share\n100,1\n");
}

TEST(InductorTest, RanksAddUp) {
  TestTrace first;
  TestTrace second;
  const Tables tables = Analyse("inductor", {&Compiled(first).View(0), &Compiled(second).View(1)});
  EXPECT_EQ(Csv(tables[0], {"category", "kernels", "calls", "share_of_wall"}),
            "category,kernels,calls,share_of_wall\n"
            "gemm,1,2,0.15\n"
            "triton_pointwise,1,4,0.15\n"
            "triton_user,1,2,0.15\n"
            "copy,1,2,0.05\n");
}

// Prefixes alone decide, and annotations count as unknown kernels.
TEST(InductorTest, TheReportOfTorchInductorHasItsFiveCategories) {
  TestTrace trace;
  Params params;
  params.compat = Compat::kInductor;
  params.values = {{.name = kRunsParam.name, .number = 2, .text = ""}};
  const Tables tables = Analyse("inductor", {&Compiled(trace).View()}, params);
  EXPECT_EQ(Csv(tables[0]),
            "category,Self CUDA TIME (ms),Percent\n"
            "triton_pointwise,1.5e-05,15\n"
            "unknown,8.5e-05,85\n"
            "busy,0.0001,100\n");
  EXPECT_EQ(Csv(tables[1]),
            "category,Kernel,Self CUDA TIME (ms),Count,Percent\n"
            "triton_pointwise,triton_poi_fused_add_0,1.5e-05,1,15\n"
            "unknown,region,5e-05,0.5,50\n"
            "unknown,ampere_sgemm_128x64_nn,1.5e-05,0.5,15\n"
            "unknown,mine,1.5e-05,0.5,15\n"
            "unknown,Memcpy HtoD,5e-06,0.5,5\n");
  EXPECT_EQ(Csv(tables[2]), "Total wall time (ms)\n0.0001\n");
}

// The call of the graph is used, not the region around it.
TEST(InductorTest, ByCompiledGraphAndStep) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#3", {0, 1000})
      .Op("Torch-Compiled Region: 0/0", {10, 400})
      .Annotation("## Call CompiledFxGraph fabc ##", {20, 200})
      .Launched("triton_poi_fused_add_0", {30, 10}, {100, 50}, {1})
      .Launched("triton_poi_fused_add_0", {300, 10}, {400, 50}, {2})
      .Launched("triton_red_fused_sum_1", {500, 10}, {600, 100}, {3});
  Params params;
  params.by = {"graph", "step"};
  const Tables tables = Analyse("inductor", {&trace.View()}, params);
  EXPECT_EQ(Csv(tables[0], {"step", "graph", "category", "calls", "total_ns"}),
            "step,graph,category,calls,total_ns\n"
            "3,-,triton_reduction,1,100\n"
            "3,Torch-Compiled Region: 0/0,triton_pointwise,1,50\n"
            "3,fabc,triton_pointwise,1,50\n");
  EXPECT_EQ(Csv(tables[1], {"graph", "kernel", "share_of_wall", "gain"}),
            "graph,kernel,share_of_wall,gain\n"
            "-,triton_red_fused_sum_1,0.1,0.05\n"
            "Torch-Compiled Region: 0/0,triton_poi_fused_add_0,0.05,0.025\n"
            "fabc,triton_poi_fused_add_0,0.05,0.025\n");
}

}  // namespace
}  // namespace borescope::internal
