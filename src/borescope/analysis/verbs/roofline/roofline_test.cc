#include "borescope/analysis/verbs/roofline/roofline.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// A device of 1 TFLOP/s on matrix units, 0.1 on others, and 10 GB/s.
constexpr std::string_view kSpec =
    R"({"name": "toy", "tflops": {"fp32": 0.1, "fp16_matrix": 1}, "memory_gbps": 10})";

Params OnToy() {
  Params params;
  params.values.push_back({kDeviceSpecParam.name, 0, "toy.json", std::string(kSpec)});
  return params;
}

const Table& Named(const Tables& tables, std::string_view name) {
  for (const Table& table : tables) {
    if (table.name == name) return table;
  }
  ADD_FAILURE() << "no table " << name;
  return tables.front();
}

constexpr std::string_view kHalves = R"(["c10::Half", "c10::Half"])";

// 2 x 100 x 100 x 100 FLOPs (2000 ns at peak), 60000 bytes (6000 ns).
const OpArgs kSmallProduct{.dims = "[[100, 100], [100, 100]]", .types = std::string(kHalves)};
// 2 x 1024^3 FLOPs (2147484 ns at peak), 6291456 bytes (629146 ns).
const OpArgs kLargeProduct{.dims = "[[1024, 1024], [1024, 1024]]", .types = std::string(kHalves)};

TEST(Roofline, RatesAndRoofOfAnOperator) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kLargeProduct)
      .Launched("volta_h884gemm_64x64_nn", {10, 10}, {1000, 4'000'000}, {1})
      .Launched("splitKreduce_kernel", {30, 10}, {4'001'000, 294'968}, {2});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(
      Csv(Named(found, "roofline"),
          {"op", "dtypes", "kernels", "count", "total_ns", "lost_ns", "flops", "bytes", "tflops",
           "bound", "roof_share", "tensor_core"}),
      "op,dtypes,kernels,count,total_ns,lost_ns,flops,bytes,tflops,bound,roof_share,tensor_core\n"
      "aten::mm,fp16,2,1,4294968,2147484,2147483648,6291456,0.5,compute,0.5,yes\n");
}

TEST(Roofline, BoundByWhatTakesLongest) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kSmallProduct)
      .Launched("gemm", {10, 10}, {1000, 12'000}, {1})
      .Op("aten::add", {200, 100}, {.dims = "[[10], [10]]", .types = std::string(kHalves)})
      .Launched("add", {210, 10}, {20'000, 5000}, {2});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(Csv(Named(found, "roofline"), {"op", "bound", "tensor_core"}),
            "op,bound,tensor_core\naten::mm,memory,unknown\naten::add,latency,-\n");
}

TEST(Roofline, UnknownDeviceKeepsRates) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kLargeProduct)
      .Launched("volta_h884gemm_64x64_nn", {10, 10}, {1000, 2'147'484}, {1});
  const Tables found = Analyse("roofline", {&trace.View()});
  EXPECT_EQ(Csv(Named(found, "roofline"), {"op", "lost_ns", "tflops", "bound", "roof_share"}),
            "op,lost_ns,tflops,bound,roof_share\naten::mm,-,1,-,-\n");
  EXPECT_EQ(Csv(Named(found, "utilisation"), {"model_flops", "mfu"}),
            "model_flops,mfu\n2147483648,-\n");
  EXPECT_EQ(Csv(Named(found, "ledger"), {"item", "ns"}),
            "item,ns\ngemm: no roof known,2147484\nidle,1000\n"
            "kernels without a model,0\nexposed communication,0\nexposed copies,0\n");
}

// 2000, 4000 and 8000 ns for 2,000,000 FLOPs; a call of another shape; a product of transposed
// weights for three rows of a batch.
TEST(Roofline, RatesOfProductsByShape) {
  TestTrace trace;
  for (int64_t i = 0; i < 3; ++i) {
    trace.Op("aten::mm", {i * 1000, 500}, kSmallProduct)
        .Launched("gemm", {i * 1000 + 10, 10}, {i * 20'000, int64_t{2000} << i}, {i + 1});
  }
  trace
      .Op("aten::linear", {5000, 500},
          {.dims = "[[2, 3, 10], [20, 10], [20]]", .types = R"(["float", "float", "float"])"})
      .Launched("gemm", {5010, 10}, {100'000, 1200}, {5});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(Csv(Named(found, "gemm_shapes")),
            "op,m,n,k,batch,dtype,count,total_ns,tflops,tflops_min,tflops_median,tflops_max,"
            "tflops_spread\n"
            "aten::mm,100,100,100,1,fp16,3,14000,0.428571,0.25,0.5,1,1.5\n"
            "aten::linear,6,20,10,1,fp32,1,1200,0.002,0.002,0.002,0.002,0\n");
}

TEST(Roofline, LedgerSplitsTheSpan) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kSmallProduct)
      .Launched("gemm", {10, 10}, {1000, 10'000}, {1})
      .Kernel("unknown", {6000, 10'000}, {.stream = 8})
      .Kernel("ncclDevKernel_AllReduce", {15'000, 10'000}, {.stream = 9})
      .Memcpy("Memcpy HtoD", {20'000, 10'000}, {.stream = 10});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(Csv(Named(found, "ledger"), {"gpu", "item", "ns"}),
            "gpu,item,ns\n"
            "0,matrix math at peak,2000\n"
            "0,exposed communication,9000\n"
            "0,kernels without a model,5000\n"
            "0,exposed copies,5000\n"
            "0,gemm: at the roof,4000\n"
            "0,gemm: lost,4000\n"
            "0,idle,1000\n");
}

TEST(Roofline, RecomputedFlopsAreNoModelFlops) {
  OpArgs again = kSmallProduct;
  again.sequence = 8;
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kSmallProduct)
      .Launched("gemm", {10, 10}, {1000, 10'000}, {1})
      .Op("CheckpointFunctionBackward", {200, 200}, {.forward_thread = 1, .sequence = 7})
      .Op("aten::mm", {210, 100}, again)
      .Launched("gemm", {220, 10}, {11'000, 9000}, {2});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(Csv(Named(found, "utilisation"),
                {"span_ns", "model_flops", "recomputed_flops", "mfu", "hfu"}),
            "span_ns,model_flops,recomputed_flops,mfu,hfu\n20000,2000000,2000000,0.1,0.2\n");
}

TEST(Roofline, UtilisationIsWithheldWhereMuchIsUnknown) {
  const auto utilisation = [](int64_t unknown_ns) {
    TestTrace trace;
    trace.Op("aten::mm", {0, 100}, kSmallProduct)
        .Launched("gemm", {10, 10}, {1000, 9000}, {1})
        .Kernel("launched before the recording", {10'000, unknown_ns})
        .Kernel("ncclDevKernel_AllReduce", {12'000, 8000}, {.stream = 9});
    const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
    return Csv(Named(found, "utilisation"), {"model_flops", "tflops", "mfu", "hfu", "coverage"});
  };
  const std::string head = "model_flops,tflops,mfu,hfu,coverage\n";
  EXPECT_EQ(utilisation(1000), head + "2000000,0.1,0.1,0.1,0.9\n");
  EXPECT_EQ(utilisation(1001), head + "2000000,-,-,-,0.89991\n");
}

// Without shapes it is still known that a sum has no matrix FLOPs, but not how many a product has.
TEST(Roofline, OperatorsWithoutProductsAreCovered) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kSmallProduct)
      .Launched("gemm", {10, 10}, {1000, 3000}, {1})
      .Op("aten::sum", {200, 100})
      .Launched("sum", {210, 10}, {4000, 3000}, {2})
      .Op("aten::mm", {400, 100})
      .Launched("gemm", {410, 10}, {8000, 2000}, {3});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(Csv(Named(found, "utilisation"), {"mfu", "coverage", "withheld"}),
            "mfu,coverage,withheld\n"
            "-,0.75,the FLOPs of more than 10 % of the compute time are not known: see modelled\n");
}

TEST(Roofline, RatesAreThoseOfTheCallsThatAreKnown) {
  const auto rates = [](int64_t unknown_ns) {
    TestTrace trace;
    trace.Op("aten::mm", {0, 100}, kLargeProduct)
        .Launched("gemm", {10, 10}, {1000, 4'000'000}, {1})
        .Op("aten::mm", {200, 100})
        .Launched("gemm", {210, 10}, {5'000'000, unknown_ns}, {2});
    const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
    return Csv(Named(found, "roofline"),
               {"count", "total_ns", "coverage", "roof_share", "tflops", "intensity"});
  };
  const std::string head = "count,total_ns,coverage,roof_share,tflops,intensity\n";
  EXPECT_EQ(rates(400'000), head + "1,4000000,0.909091,0.536871,0.536871,341.333\n");
  EXPECT_EQ(rates(1'000'000), head + "1,4000000,0.8,-,-,-\n");
}

TEST(Roofline, HelpSaysWhatIsMissing) {
  const auto help = [](std::string_view op, const OpArgs& args) {
    TestTrace trace;
    trace.Op(op, {0, 100}, args).Launched("k", {10, 10}, {1000, 1000}, {1});
    const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
    return Texts(Named(found, "modelled"), "status")[0] + ": " +
           Texts(Named(found, "modelled"), "help")[0];
  };
  const OpArgs heads{.dims = "[[8, 8, 64], [8, 8, 64]]", .types = std::string(kHalves)};
  EXPECT_EQ(help("vllm::unified_attention", heads),
            "depends on data: it depends on lengths or indices in tensors, or on parts of buffers, "
            "which no profiler records");
  const OpArgs index{.dims = "[[8], [], [4]]", .types = R"(["float", "Scalar", "long int"])"};
  EXPECT_EQ(help("aten::index_select", index),
            "needs values: profile with record_shapes=True in PyTorch 2.1 or later, which records "
            "values");
}

// Launched in the first half, it runs in both: neither has more FLOPs than its part of the time.
TEST(Roofline, AWindowHasTheFlopsThatRanInIt) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, kSmallProduct).Launched("gemm", {10, 10}, {2000, 8'000}, {1});
  const auto use = [&](int64_t begin_ns, int64_t end_ns) {
    Params params = OnToy();
    params.selection.range =
        *TimeRange::Parse(std::to_string(begin_ns) + "ns", std::to_string(end_ns) + "ns");
    const Tables found = Analyse("roofline", {&trace.View()}, params);
    return Csv(Named(found, "utilisation"), {"model_flops", "mfu"});
  };
  EXPECT_EQ(use(0, 4'000), "model_flops,mfu\n500000,0.125\n");
  EXPECT_EQ(use(4'000, 10'000), "model_flops,mfu\n1500000,0.25\n");
}

// A compiled model whose generated kernels were launched outside of operators, as by a graph.
TEST(Roofline, GeneratedKernelsHaveNoMatrixWork) {
  const auto utilisation = [](std::string_view kernel) {
    TestTrace trace;
    trace.Op("aten::mm", {0, 100}, kSmallProduct)
        .Launched("gemm", {10, 10}, {1000, 10'000}, {1})
        .Launched(kernel, {200, 10}, {11'000, 9000}, {2});
    const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
    return Csv(Named(found, "utilisation"), {"mfu", "coverage"});
  };
  const std::string known = "mfu,coverage\n0.1,1\n";
  const std::string withheld = "mfu,coverage\n-,0.526316\n";
  EXPECT_EQ(utilisation("triton_poi_fused_add_gelu_0"), known);
  EXPECT_EQ(utilisation("triton_red_fused_addmm_sum_1"), known);
  EXPECT_EQ(utilisation("triton_per_fused_native_layer_norm_2"), known);
  EXPECT_EQ(utilisation("void at::native::vectorized_elementwise_kernel<4, F>(int, F)"), known);
  EXPECT_EQ(utilisation("triton_tem_fused_addmm_relu_1"), withheld);
  EXPECT_EQ(utilisation("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT"), withheld);
  EXPECT_EQ(utilisation("my_kernel"), withheld);
}

// 32-bit products near the peak of vector units are far from what matrix units offer.
TEST(Roofline, UseOfTheBestType) {
  TestTrace trace;
  trace
      .Op("aten::mm", {0, 100},
          {.dims = "[[100, 100], [100, 100]]", .types = R"(["float", "float"])"})
      .Launched("volta_sgemm_128x64_nn", {10, 10}, {0, 20'000}, {1});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(Csv(Named(found, "utilisation"), {"mfu", "best_type", "mfu_best"}),
            "mfu,best_type,mfu_best\n1,fp16,0.1\n");
}

TEST(Roofline, LinksHaveNoRoof) {
  TestTrace trace;
  trace.Op("aten::copy_", {0, 100}, {.dims = "[[10], [10]]", .types = std::string(kHalves)})
      .Runtime("cudaMemcpyAsync", {10, 10}, 1)
      .Memcpy("Memcpy HtoD (Pageable -> Device)", {1000, 1000}, {1})
      .Op("aten::copy_", {200, 100}, {.dims = "[[10], [10]]", .types = std::string(kHalves)})
      .Runtime("cudaMemcpyAsync", {210, 10}, 2)
      .Memcpy("Memcpy DtoD (Device -> Device)", {3000, 1000}, {2});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(Csv(Named(found, "roofline"), {"op", "count", "total_ns", "lost_ns", "gbps"}),
            "op,count,total_ns,lost_ns,gbps\naten::copy_,2,2000,996,0.04\n");
  // Half of the time has no roof.
  EXPECT_EQ(Csv(Named(found, "roofline"), {"roof_share", "coverage"}),
            "roof_share,coverage\n-,1\n");
}

TEST(Roofline, MissedMatrixUnitsNameTheSizes) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}, {.dims = "[[100, 64], [64, 33]]", .types = std::string(kHalves)})
      .Launched("ampere_sgemm_32x32", {10, 10}, {1000, 100'000}, {1});
  const Tables found = Analyse("roofline", {&trace.View()}, OnToy());
  EXPECT_EQ(Csv(Named(found, "tensor_core_misses"), {"op", "dtype", "misaligned", "at_stake_ns"}),
            "op,dtype,misaligned,at_stake_ns\n"
            "aten::mm,fp16,m = 100, n = 33 (not a multiple of 8),97638\n");
}

TEST(Roofline, RanksMergeInAnyOrder) {
  TestTrace a;
  a.Op("aten::mm", {0, 100}, kSmallProduct).Launched("gemm", {10, 10}, {1000, 9000}, {1});
  TestTrace b;
  b.Op("aten::mm", {0, 100}, kLargeProduct).Launched("gemm", {10, 10}, {1000, 9000}, {1});
  const RankView& first = a.View(0);
  const RankView& second = b.View(1);
  const Tables one = Analyse("roofline", {&first, &second}, OnToy());
  const Tables other = Analyse("roofline", {&second, &first}, OnToy());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(Csv(one[i]), Csv(other[i]));
  }
  EXPECT_EQ(Csv(Named(one, "roofline"), {"op", "count"}), "op,count\naten::mm,2\n");
}

TEST(Roofline, LedgerAddsUpForAnyTrace) {
  constexpr std::string_view kNames[] = {"gemm", "add", "ncclDevKernel_AllReduce", "other"};
  constexpr std::string_view kOps[] = {"aten::mm", "aten::add", "my::op"};
  std::mt19937 random(7);
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  for (int round = 0; round < 50; ++round) {
    TestTrace trace;
    for (int64_t i = 0; i < 40; ++i) {
      const On on{.correlation = i, .stream = below(4), .gpu = below(2)};
      trace.Op(kOps[below(3)], {i * 100, 90}, kSmallProduct);
      trace.Launched(kNames[below(4)], {i * 100 + 10, 10}, {below(200'000), below(30'000)}, on);
      trace.Memcpy("Memcpy HtoD", {below(200'000), below(9000)}, {.stream = 20});
    }
    Params params = OnToy();
    params.selection.annotation = "window";
    trace.Annotation("window", {below(100'000), 10'000}).Annotation("window", {150'000, 7777});
    const Tables found = Analyse("roofline", {&trace.View()}, params);
    const Table& ledger = Named(found, "ledger");
    std::map<int64_t, int64_t> sums;
    for (size_t row = 0; row < ledger.rows(); ++row) {
      EXPECT_GE(Ints(ledger, "ns")[row], 0);
      sums[Ints(ledger, "gpu")[row]] += Ints(ledger, "ns")[row];
    }
    for (const auto& [gpu, sum] : sums) {
      EXPECT_EQ(sum, 17'777) << "round " << round << " gpu " << gpu;
    }
  }
}

TEST(Roofline, OptionsAreChecked) {
  Params params;
  params.values = {{kDeviceParam.name, 0, "NVIDIA H100 80GB HBM3"}};  // as drivers say it
  EXPECT_TRUE(FindAnalysis("roofline")->check(params).ok());
  params.values = {{kDeviceParam.name, 0, "abacus"}};
  EXPECT_TRUE(FindAnalysis("roofline")
                  ->check(params)
                  .error()
                  .Sentence()
                  .starts_with("`device` abacus: not known; known are P100 SXM2, "));
}

}  // namespace
}  // namespace borescope::internal
