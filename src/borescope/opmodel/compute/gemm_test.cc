#include <gtest/gtest.h>

#include <random>
#include <string>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {

namespace {

TEST(Gemm, MmIsTwoPerMultiplyAdd) {
  const OpCost cost = Cost("aten::mm", {"[[32, 64], [64, 16]]", "float,float"});
  EXPECT_EQ(cost.status, CostStatus::kOk);
  EXPECT_EQ(cost.family, OpFamily::kGemm);
  EXPECT_EQ(cost.type, ScalarType::kFloat32);
  EXPECT_EQ(cost.matrix_flops, 2ULL * 32 * 64 * 16);
  EXPECT_EQ(cost.vector_flops, 0U);
  EXPECT_EQ(cost.read_bytes, 4ULL * (32 * 64 + 64 * 16));
  EXPECT_EQ(cost.written_bytes, 4ULL * 32 * 16);
}

TEST(Gemm, AnOutputThatIsGivenIsNotRead) {
  const OpCost cost = Cost("aten::mm", {"[[32768, 8192], [8192, 2048], [32768, 2048]]",
                                        "c10::BFloat16,c10::BFloat16,c10::BFloat16"});
  EXPECT_EQ(cost.matrix_flops, 1'099'511'627'776ULL);
  EXPECT_EQ(cost.read_bytes, 2ULL * (32768ULL * 8192 + 8192ULL * 2048));
}

// PyProf's golden vectors: the FLOPs, and bytes with what it leaves out (the addend).
TEST(Gemm, AddmmReadsItsAddend) {
  const OpCost cost = Cost("aten::addmm", {"[[256], [32, 128], [128, 256], [], []]",
                                           "float,float,float,Scalar,Scalar", ",,,1,1"});
  EXPECT_EQ(cost.matrix_flops, 2'097'152U);
  EXPECT_EQ(cost.vector_flops, 32U * 256);
  EXPECT_EQ(cost.bytes(), 180'224U + 4 * 256);
}

TEST(Gemm, FactorsOfAddmmCount) {
  const auto addmm = [](std::string_view values) {
    return Cost("aten::addmm", {"[[256], [32, 128], [128, 256], [], []]",
                                "float,float,float,Scalar,Scalar", values});
  };
  EXPECT_EQ(addmm(",,,0,1").vector_flops, 0U);
  EXPECT_EQ(addmm(",,,0,1").bytes(), 180'224U);
  EXPECT_EQ(addmm(",,,1,2").vector_flops, 2U * 32 * 256);
  EXPECT_EQ(addmm(",,,0.5,1").vector_flops, 32U * 256 + 256);
}

TEST(Gemm, BmmIsThatOfPyProf) {
  const OpCost cost = Cost("aten::bmm", {"[[4, 32, 128], [4, 128, 256]]", "c10::Half,c10::Half"});
  EXPECT_EQ(cost.matrix_flops, 8'388'608U);
  EXPECT_EQ(cost.bytes(), 360'448U);
}

TEST(Gemm, LinearWithBias) {
  const OpCost cost = Cost("aten::linear", {"[[32, 64, 128], [256, 128], [256]]",
                                            "c10::BFloat16,c10::BFloat16,c10::BFloat16"});
  EXPECT_EQ(cost.matrix_flops, 134'217'728U);
  EXPECT_EQ(cost.vector_flops, 524'288U);
  EXPECT_EQ(cost.bytes(), 1'638'912U);
  EXPECT_TRUE(cost.is_composite);
}

TEST(Gemm, LinearLayersOfLeNet) {
  EXPECT_EQ(Cost("aten::linear", {"[[1, 400], [120, 400], [120]]", "float,float,float"}).bytes(),
            194'560U);
  EXPECT_EQ(Cost("aten::linear", {"[[1, 400], [120, 400], []]", "float,float,"}).matrix_flops,
            96'000U);
}

TEST(Gemm, MatmulBroadcastsWithoutReadingTwice) {
  const OpCost cost =
      Cost("aten::matmul", {"[[4, 8, 32, 128], [8, 128, 256]]", "c10::BFloat16,c10::BFloat16"});
  EXPECT_EQ(cost.matrix_flops, 67'108'864U);
  EXPECT_EQ(cost.bytes(), 1'310'720U);
}

TEST(Gemm, VectorsAreRowsInFrontAndColumnsBehind) {
  EXPECT_EQ(Cost("aten::dot", {"[[7], [7]]", "float,float"}).matrix_flops, 14U);
  EXPECT_EQ(Cost("aten::mv", {"[[3, 7], [7]]", "float,float"}).bytes(), 4U * (21 + 7 + 3));
  EXPECT_EQ(Cost("aten::matmul", {"[[7], [2, 7, 5]]", "float,float"}).matrix_flops, 2U * 70);
  EXPECT_EQ(Cost("aten::addmv", {"[[3], [3, 7], [7]]", "float,float,float"}).vector_flops, 3U);
}

TEST(Gemm, ScaledMmReadsScalesAndWritesItsOwnType) {
  const OpCost cost =
      Cost("aten::_scaled_mm",
           {"[[16, 32], [32, 64], [], [], [], [], [], []]",
            "c10::Float8_e4m3fn,c10::Float8_e4m3fn,float,float,,,Scalar,Scalar", ",,,,,,15,False"});
  EXPECT_EQ(cost.matrix_flops, 2U * 16 * 32 * 64);
  EXPECT_EQ(cost.read_bytes, 16U * 32 + 32 * 64 + 4 + 4);
  EXPECT_EQ(cost.written_bytes, 2U * 16 * 64);
}

TEST(Gemm, APackedPairIsTwo) {
  const OpCost cost =
      Cost("aten::_scaled_mm",
           {"[[16, 32], [32, 64], [], []]",
            "c10::Float4_e2m1fn_x2,c10::Float4_e2m1fn_x2,float,float", ",,,,,,15,False"});
  EXPECT_EQ(cost.matrix_flops, 2U * 16 * 64 * 64);
}

TEST(Gemm, IntegersAddUpIn32Bits) {
  const OpCost cost = Cost("aten::_int_mm", {"[[16, 32], [32, 64]]", "signed char,signed char"});
  EXPECT_EQ(cost.written_bytes, 4U * 16 * 64);
}

TEST(Gemm, ExpertsTakeTheirRows) {
  const OpCost cost = Cost("aten::_grouped_mm", {"[[100, 64], [8, 64, 32], [8], [], []]",
                                                 "c10::BFloat16,c10::BFloat16,int,,", ""});
  EXPECT_EQ(cost.matrix_flops, 2U * 100 * 64 * 32);
  EXPECT_EQ(cost.bytes(), 2U * (100 * 64 + 8 * 64 * 32 + 100 * 32) + 4 * 8);
  const OpCost weights =
      Cost("aten::_grouped_mm", {"[[64, 100], [100, 32], [8]]", "c10::BFloat16,c10::BFloat16,int"});
  EXPECT_EQ(weights.matrix_flops, 2U * 64 * 100 * 32);
  EXPECT_EQ(weights.written_bytes, 2U * 8 * 64 * 32);
}

TEST(Gemm, SparseWeightsCountAsDense) {
  const OpCost cost = Cost("aten::_sparse_semi_structured_mm",
                           {"[[64, 32], [64, 4], [64, 16]]", "c10::Half,short int,c10::Half"});
  EXPECT_EQ(cost.matrix_flops, 2U * 64 * 64 * 16);
  EXPECT_EQ(cost.bytes(), 2U * (64 * 32 + 64 * 4 + 64 * 16 + 64 * 16));
}

TEST(Gemm, PackedWeightsHaveEightRowsInATile) {
  const OpCost cost =
      Cost("aten::_weight_int4pack_mm", {"[[5, 1024], [4, 8, 32, 4], [], [8, 32, 2]]",
                                         "c10::BFloat16,int,Scalar,c10::BFloat16", ",,128,"});
  EXPECT_EQ(cost.matrix_flops, 2U * 5 * 1024 * 32);
  EXPECT_EQ(cost.read_bytes, 2U * 5 * 1024 + 4 * 4 * 8 * 32 * 4 + 2 * 8 * 32 * 2);
}

TEST(Gemm, ComplexNumbersTakeFourTimesAsMuch) {
  EXPECT_EQ(Cost("aten::mm", {"[[2, 3], [3, 4]]", "c10::complex<float>,c10::complex<float>"})
                .matrix_flops,
            8U * 24);
}

TEST(Gemm, AnExpandedOperandIsReadOnce) {
  const OpCost cost = Cost("aten::bmm", {"[[4, 32, 128], [4, 128, 256]]", "c10::Half,c10::Half", "",
                                         "[[0, 128, 1], [32768, 256, 1]]"});
  EXPECT_EQ(cost.read_bytes, 2U * (32 * 128 + 4 * 128 * 256));
}

TEST(Gemm, WhatCannotBeIsSaid) {
  const auto status = [](std::string_view name, std::string_view dims) {
    return Cost(name, {dims, "float,float,float"}).status;
  };
  EXPECT_EQ(status("aten::mm", "[[2, 3], [4, 5]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::mm", "[[2], [2]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::mm", "[[2, 3]]"), CostStatus::kMissingShapes);
  EXPECT_EQ(status("aten::mm", "[]"), CostStatus::kMissingShapes);
  EXPECT_EQ(status("aten::bmm", "[[2, 3, 4], [3, 4, 5]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::linear", "[[2, 3], [4, 5]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::linear", "[[], [4, 5]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::matmul", "[[2, 2, 3], [3, 3, 3]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::matmul", "[[], [3]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::_grouped_mm", "[[3], [3]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::mm", "[[4294967296, 4294967296], [4294967296, 1]]"),
            CostStatus::kOverflow);
  EXPECT_EQ(status("aten::mm", "[[0, 4294967296], [4294967296, 4294967296]]"),
            CostStatus::kOverflow);
  EXPECT_EQ(status("aten::mm", "[[0, 3], [3, 5]]"), CostStatus::kOk);
}

// Counts the multiply-adds of a product one by one.
TEST(Gemm, AgreesWithCounting) {
  std::mt19937 random(7);
  const auto draw = [&] { return static_cast<int64_t>(random() % 6); };
  for (int i = 0; i < 100; ++i) {
    const int64_t b = draw();
    const int64_t m = draw();
    const int64_t k = draw();
    const int64_t n = draw();
    uint64_t flops = 0;
    for (int64_t at = 0; at < b * m * n * k; ++at) {
      flops += 2;
    }
    const auto text = [](int64_t x, int64_t y, int64_t z) {
      return "[" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + "]";
    };
    const std::string dims = "[" + text(b, m, k) + ", " + text(b, k, n) + "]";
    EXPECT_EQ(Cost("aten::bmm", {dims, "float,float"}).matrix_flops, flops) << dims;
    EXPECT_EQ(Cost("aten::matmul", {dims, "float,float"}).matrix_flops, flops) << dims;
  }
}

struct Expected {
  uint64_t matrix, vector, bytes;
};

void ExpectCost(std::string_view name, const TestCall& call, Expected expected) {
  const OpCost cost = Cost(name, call);
  EXPECT_EQ(cost.status, CostStatus::kOk) << name << " " << call.dims;
  EXPECT_EQ(cost.matrix_flops, expected.matrix) << name << " " << call.dims;
  EXPECT_EQ(cost.vector_flops, expected.vector) << name << " " << call.dims;
  EXPECT_EQ(cost.bytes(), expected.bytes) << name << " " << call.dims;
}

constexpr std::string_view kExpertTypes = "c10::BFloat16,c10::BFloat16,c10::BFloat16,float,int,int";

// Every token goes through two of six experts: 8 x (32 + 16) x 8 multiply-adds. At least the
// weights of two experts are read.
TEST(ServedGemm, FusedExpertsCountEveryTokenInEachOfItsExperts) {
  for (const std::string_view name :
       {"vllm::inplace_fused_experts", "vllm::outplace_fused_experts", "vllm::rocm_aiter_fused_moe",
        "sglang::inplace_fused_experts", "sglang::outplace_fused_experts", "aiter::fused_moe_"}) {
    const TestCall call{"[[4, 8], [6, 32, 8], [6, 8, 16], [4, 2], [4, 2]]", kExpertTypes};
    ExpectCost(name, call, {6144, 0, 64 + 1024 + 512 + 32 + 32 + 64});
    EXPECT_TRUE(Cost(name, call).is_lower_bound);
  }
  ExpectCost("vllm::outplace_fused_experts",
             {"[[4, 8], [6, 16, 8], [6, 8, 16], [4, 2], [4, 2]]", kExpertTypes},
             {4096, 0, 64 + 512 + 512 + 32 + 32 + 64});
}

// Two numbers in an element; products are of the type of the tokens.
TEST(ServedGemm, FusedExpertsWithPackedWeights) {
  const TestCall call{"[[4, 8], [6, 32, 4], [6, 8, 8], [4, 2], [4, 2]]",
                      "c10::BFloat16,unsigned char,unsigned char,float,int"};
  ExpectCost("vllm::outplace_fused_experts", call, {6144, 0, 64 + 256 + 128 + 32 + 32 + 64});
  EXPECT_EQ(Cost("vllm::outplace_fused_experts", call).type, ScalarType::kBFloat16);
}

TEST(ServedGemm, FusedExpertsThatAreElsewhereDependOnData) {
  const auto status = [](std::string_view dims, std::string_view types = kExpertTypes) {
    return Cost("vllm::outplace_fused_experts", {dims, types}).status;
  };
  EXPECT_EQ(status("[[4, 8], [6, 32, 8], [6, 8, 16], [4, 2], [4, 2], [12]]"),
            CostStatus::kDependsOnData);
  EXPECT_EQ(status("[[4, 8], [6, 32, 8], [6, 8, 16], [4, 2], [4, 2], [1]]"), CostStatus::kOk);
  EXPECT_EQ(status("[[4, 8], [6, 32, 8], [6, 8, 20], [4, 2], [4, 2]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[[4, 8], [6, 32, 8], [6, 8, 16], [4, 2], [3, 2]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[[4, 8], [6, 32, 8], [6, 8, 16]]"), CostStatus::kMissingShapes);
  EXPECT_EQ(status("[[4, 8], [6, 9223372036854775807, 8], [6, 8, 9223372036854775807], [4, 2], "
                   "[4, 2]]"),
            CostStatus::kOverflow);
}

TEST(ServedGemm, RowsOfExperts) {
  constexpr std::string_view kTypes =
      "c10::BFloat16,c10::Float8_e4m3fn,c10::Float8_e4m3fn,float,float,int";
  for (const std::string_view weights : {"[3, 4, 6]", "[3, 6, 4]"}) {
    const std::string dims =
        "[[10, 6], [10, 4], " + std::string(weights) + ", [10, 1], [3, 1], [3]]";
    ExpectCost("_C::cutlass_moe_mm", {dims, kTypes}, {480, 0, 120 + 40 + 24 + 40 + 12});
  }
  EXPECT_EQ(Cost("_C::cutlass_moe_mm", {"[[10, 6], [10, 4], [0, 4, 6]]", kTypes}).status,
            CostStatus::kBadShapes);
}

TEST(ServedGemm, ProductsOfQuantizedMatrices) {
  ExpectCost("aiter::gemm_a8w8_ck",
             {"[[3, 16], [5, 16], [3, 1], [1, 5], [3, 5], [], []]",
              "signed char,signed char,float,float,c10::BFloat16,,Scalar"},
             {480, 0, 48 + 80 + 12 + 20 + 30});
  const TestCall scaled{"[[3, 16], [16, 5], [3, 1], [1, 5], [], [5]]",
                        "c10::Float8_e4m3fn,c10::Float8_e4m3fn,float,float,Scalar,c10::BFloat16",
                        ",,,,15,"};
  ExpectCost("sgl_kernel::fp8_scaled_mm", scaled, {480, 15, 48 + 80 + 12 + 20 + 10 + 30});
  const OpCost cost = Cost("sgl_kernel::fp8_scaled_mm", {scaled.dims, scaled.types});
  EXPECT_EQ(cost.status, CostStatus::kUnknownType);
  EXPECT_EQ(cost.matrix_flops, 480U);
}

// 3 x 16 by 16 x 5; the result is argument 2, in later versions 3, after a bias.
TEST(ServedGemm, ProductsOfFewRows) {
  for (const std::string_view name : {"_rocm_C::wvSplitKQ", "aiter::wvSplitKQ"}) {
    ExpectCost(name,
               {"[[5, 16], [3, 16], [3, 5], [], [], []]",
                "c10::Float8_e4m3fnuz,c10::Float8_e4m3fnuz,c10::BFloat16,float,float,Scalar"},
               {480, 0, 80 + 48 + 30});
    ExpectCost(name,
               {"[[5, 16], [3, 16], [5], [3, 5], [], [], []]",
                "c10::Float8_e4m3fnuz,c10::Float8_e4m3fnuz,c10::BFloat16,c10::BFloat16,float,float,"
                "Scalar"},
               {480, 15, 80 + 48 + 10 + 30});
  }
  EXPECT_EQ(Cost("_rocm_C::wvSplitKQ", {"[[5, 16], [3, 16], [], []]", ""}).status,
            CostStatus::kMissingShapes);
}

// [4, 64] by packed weights of 64 x 128: the sizes are numbers after them.
TEST(ServedGemm, MarlinProductsHaveTheirSizesInNumbers) {
  const TestCall first{"[[4, 64], [4, 256], [2, 128], [96], [], [], []]",
                       "c10::Half,int,c10::Half,int,Scalar,Scalar,Scalar", ",,,,4,128,64"};
  ExpectCost("_C::marlin_gemm", first, {65536, 0, 512 + 4096 + 512 + 384 + 1024});
  const TestCall with_result{
      "[[4, 64], [4, 128], [4, 256], [], [2, 128], [96], [], [], [], [], []]",
      "c10::Half,c10::Half,int,,c10::Half,int,Scalar,Scalar,Scalar,Scalar,Scalar",
      ",,,,,,1125899906843648,4,128,64,True"};
  ExpectCost("_C::gptq_marlin_gemm", with_result, {65536, 0, 512 + 4096 + 512 + 384 + 1024});
  ExpectCost("sgl_kernel::gptq_marlin_gemm", with_result,
             {65536, 0, 512 + 4096 + 512 + 384 + 1024});
  EXPECT_EQ(Cost("_C::marlin_gemm", {first.dims, first.types}).status, CostStatus::kNeedsValues);
}

// Four tokens in two experts each: eight rows of 32 columns from 64. Of the six experts at least
// the weights of one are read.
TEST(ServedGemm, ExpertsWithPackedWeights) {
  constexpr std::string_view kTypes = "c10::Half,c10::Half,unsigned char,c10::Half,,float,int,int";
  ExpectCost("_moe_C::moe_wna16_gemm",
             {"[[4, 64], [4, 2, 32], [6, 32, 32], [6, 32, 2], [], [8], [64], [8]]", kTypes},
             {32768, 0, 512 + 512 + 1024});
  ExpectCost("_moe_C::moe_wna16_marlin_gemm",
             {"[[4, 64], [8, 32], [6, 4, 64], [6, 2, 32]]", "c10::Half,c10::Half,int,c10::Half"},
             {32768, 0, 512 + 512 + 1024});
  EXPECT_EQ(
      Cost("_moe_C::moe_wna16_marlin_gemm", {"[[4, 64], [], [6, 4, 64]]", "c10::Half,,int"}).status,
      CostStatus::kMissingShapes);
}

TEST(ServedGemm, AttentionOfAiter) {
  // As flash_attn::_flash_attn_forward: 2 x 4 queries x 4 keys x (8 + 8) x 2 for two heads.
  const TestCall call{
      "[[1, 4, 2, 8], [1, 4, 2, 8], [1, 4, 2, 8], [], [], [], [], []]",
      "c10::BFloat16,c10::BFloat16,c10::BFloat16,Scalar,Scalar,Scalar,Scalar,Scalar",
      ",,,0.0,0.35,False,-1,-1"};
  const OpCost expected = Cost("flash_attn::_flash_attn_forward", call);
  EXPECT_EQ(expected.matrix_flops, 1024U);
  for (const std::string_view name : {"aiter::mha_fwd", "aiter::fmha_v3_fwd"}) {
    EXPECT_EQ(Cost(name, call).matrix_flops, expected.matrix_flops) << name;
    EXPECT_EQ(Cost(name, call).bytes(), expected.bytes()) << name;
  }
  EXPECT_EQ(Cost("aiter::pa_fwd_asm", call).status, CostStatus::kDependsOnData);
}

// Two sequences of four tokens, causal: the arguments are at other places than FlashAttention's.
TEST(ServedGemm, AttentionOfAiterOverManyLengths) {
  const std::string tensors = "[[8, 2, 8], [8, 2, 8], [8, 2, 8], [3], [3]";
  constexpr std::string_view kTypes = "c10::BFloat16,c10::BFloat16,c10::BFloat16,int,int";
  const std::string dims = tensors + ", [], [], [], [], [], [], [], [], [], []]";
  const OpCost flash = Cost("flash_attn::_flash_attn_varlen_forward",
                            {dims, kTypes, ",,,,,4,4,0.0,0.35,True,-1,-1"});
  ASSERT_GT(flash.matrix_flops, 0U);
  for (const std::string_view name : {"aiter::mha_varlen_fwd", "aiter::fmha_v3_varlen_fwd"}) {
    const TestCall call{dims, kTypes, ",,,,,4,4,0,0.0,0.35,0.0,False,True,-1,-1"};
    EXPECT_EQ(Cost(name, call).matrix_flops, flash.matrix_flops) << name;
    EXPECT_EQ(Cost(name, call).bytes(), flash.bytes()) << name;
    const TestCall full{dims, kTypes, ",,,,,4,4,0,0.0,0.35,0.0,False,False,-1,-1"};
    EXPECT_EQ(Cost(name, full).matrix_flops, 2U * 2 * 2 * 4 * 4 * (8 + 8)) << name;
  }
}

TEST(ServedGemm, WhatServesAttention) {
  constexpr std::string_view kTypes = "c10::BFloat16,float,c10::BFloat16,float,c10::BFloat16,float";
  constexpr std::string_view kDims = "[[4, 2, 8], [2, 4], [4, 2, 8], [2, 4], [4, 2, 8], [2, 4]]";
  ExpectCost("_C::merge_attn_states", {kDims, kTypes}, {0, 192, 480});
  ExpectCost("sgl_kernel::merge_state_v2", {kDims, kTypes}, {0, 192, 480});
  for (const std::string_view name :
       {"_rocm_C::paged_attention", "sgl_kernel::cutlass_mla_decode",
        "vllm::unified_mla_attention_with_output", "vllm::moe_forward"}) {
    EXPECT_EQ(Cost(name, {"[[888, 3072], [888, 128], []]", "c10::BFloat16,c10::BFloat16,"}).status,
              CostStatus::kDependsOnData)
        << name;
  }
}

TEST(ServedGemm, SmallOperatorsBetweenProducts) {
  ExpectCost("_C::swigluoai_and_mul", {"[[4, 8], [4, 16], [], []]", "c10::BFloat16,c10::BFloat16"},
             {0, 320, 192});
  ExpectCost("sgl_kernel::silu_and_mul", {"[[4, 8], [4, 16]]", "c10::BFloat16,c10::BFloat16"},
             {0, 160, 192});
  ExpectCost("sgl_kernel::topk_softmax",
             {"[[4, 2], [4, 2], [4, 8], []]", "float,int,c10::BFloat16,Scalar"}, {0, 192, 128});
  ExpectCost("sgl_kernel::sgl_per_token_group_quant_fp8",
             {"[[4, 16], [4, 16], [4, 2]]", "c10::BFloat16,c10::Float8_e4m3fn,float"},
             {0, 128, 128 + 64 + 32});
  ExpectCost("sgl_kernel::rmsnorm",
             {"[[4, 8], [4, 8], [8], []]", "c10::BFloat16,c10::BFloat16,c10::BFloat16,Scalar"},
             {0, 132, 64 + 64 + 16});
  for (const std::string_view name : {"_C_custom_ar::all_reduce", "sgl_kernel::all_reduce"}) {
    ExpectCost(name,
               {"[[], [4, 8], [4, 8], [], []]", "Scalar,c10::BFloat16,c10::BFloat16,Scalar,Scalar"},
               {0, 0, 128});
  }
}

// Calls of a recording of vLLM with AITER on MI300X, in graphs.
TEST(ServedGemm, RecordedOfVllmOnMi300) {
  constexpr std::string_view kBf16x3 = "c10::BFloat16,c10::BFloat16,c10::BFloat16";
  ExpectCost("vllm::rocm_unquantized_gemm", {"[[8192, 2880], [5120, 2880], [5120]]", kBf16x3},
             {241'591'910'400, 41'943'040, 160'573'440});
  ExpectCost(
      "aiter::rmsnorm2d_fwd_with_add_ck",
      {"[[8192, 2880], [8192, 2880], [8192, 2880], [8192, 2880], [2880], [], []]",
       "c10::BFloat16,c10::BFloat16,c10::BFloat16,c10::BFloat16,c10::BFloat16,Scalar,Scalar"},
      {0, 117'964'800, 188'749'440});
  ExpectCost("vllm::rocm_aiter_rmsnorm2d_fwd_with_add",
             {"[[8192, 2880], [8192, 2880], [2880], []]", kBf16x3}, {0, 117'964'800, 188'749'440});
  ExpectCost("aiter::rms_norm", {"[[8192, 2880], [2880], [], []]", kBf16x3},
             {0, 94'371'840, 94'377'600});
  ExpectCost("vllm::rocm_aiter_rms_norm", {"[[8192, 2880], [2880], []]", kBf16x3},
             {0, 94'371'840, 94'377'600});
  ExpectCost("_C_cache_ops::reshape_and_cache_flash",
             {"[[8192, 8, 64], [8192, 8, 64], [224304, 32, 8, 64], [224304, 32, 8, 64], [8192]]",
              "c10::BFloat16,c10::BFloat16,c10::BFloat16,c10::BFloat16,long int"},
             {0, 0, 33'619'968});
}

// Calls of a recording of vLLM on B200, without graphs.
TEST(ServedGemm, RecordedOfVllmOnB200) {
  ExpectCost("_C::static_scaled_fp8_quant",
             {"[[888, 512], [888, 512], []]", "c10::Float8_e4m3fn,c10::BFloat16,float"},
             {0, 454'656, 1'363'972});
  ExpectCost("_C_cache_ops::reshape_and_cache_flash",
             {"[[888, 1, 64], [888, 1, 64], [4213816, 16, 1, 64], [4213816, 16, 1, 64], [888]]",
              "c10::BFloat16,c10::BFloat16,unsigned char,unsigned char,long int"},
             {0, 0, 348'096});
  for (const std::string_view name : {"vllm::all_reduce", "symm_mem::multimem_all_reduce_"}) {
    ExpectCost(name, {"[[2557440], [], []]", "c10::BFloat16,,"}, {0, 0, 10'229'760});
  }
  ExpectCost("_C::fused_add_rms_norm",
             {"[[888, 2880], [888, 2880], [2880], []]",
              "c10::BFloat16,c10::BFloat16,c10::BFloat16,Scalar"},
             {0, 12'788'088, 20'465'280});
  ExpectCost("_C::rms_norm",
             {"[[888, 2880], [888, 2880], [2880], []]",
              "c10::BFloat16,c10::BFloat16,c10::BFloat16,Scalar"},
             {0, 10'230'648, 10'235'520});
  ExpectCost("_C::rotary_embedding",
             {"[[888], [888, 512], [888, 64], [], [131072, 64], []]",
              "long int,c10::BFloat16,c10::BFloat16,Scalar,c10::BFloat16,Scalar", ",,,64,,1"},
             {0, 1'534'464, 2'166'720});
}

}  // namespace

}  // namespace borescope::internal::opmodel
