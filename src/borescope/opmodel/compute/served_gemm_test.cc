// Operators of vLLM, sgl-kernel and AITER. Expected numbers were worked out by hand.
#include <gtest/gtest.h>

#include <string>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {
namespace {

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
