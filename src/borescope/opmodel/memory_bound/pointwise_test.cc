#include <gtest/gtest.h>

#include <string>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {

namespace {

struct Expected {
  uint64_t matrix, vector, bytes;
};

void Expect(std::string_view name, const TestCall& call, Expected expected) {
  const OpCost cost = Cost(name, call);
  EXPECT_EQ(cost.status, CostStatus::kOk) << name << " " << call.dims;
  EXPECT_EQ(cost.matrix_flops, expected.matrix) << name << " " << call.dims;
  EXPECT_EQ(cost.vector_flops, expected.vector) << name << " " << call.dims;
  EXPECT_EQ(cost.bytes(), expected.bytes) << name << " " << call.dims;
}

TEST(Quantized, ThereAndBack) {
  Expect("aten::quantize_per_tensor",
         {"[[8, 16], [], [], []]", "float,Scalar,Scalar,Scalar", ",0.1,0,12"}, {0, 384, 512 + 128});
  Expect("aten::quantize_per_channel",
         {"[[8, 16], [8], [8], [], []]", "float,double,long int,Scalar,Scalar", ",,,0,12"},
         {0, 384, 512 + 128 + 128});
  Expect("aten::dequantize", {"[[8, 16]]", "c10::qint8"}, {0, 256, 128 + 512});
  Expect("aten::fake_quantize_per_tensor_affine_cachemask",
         {"[[8, 16], [], [], [], []]", "float,Scalar,Scalar,Scalar,Scalar", ",0.1,0,0,255"},
         {0, 640, 1024 + 128});
  Expect("aten::fake_quantize_per_tensor_affine_cachemask_backward",
         {"[[8, 16], [8, 16]]", "float,bool"}, {0, 128, 1024 + 128});
  Expect("fbgemm::quantize_fp8_per_row", {"[[8, 16], [], []]", "c10::BFloat16,,"},
         {0, 256, 256 + 128 + 32});
  EXPECT_EQ(
      Cost("aten::quantize_per_tensor", {"[[8, 16], [], [], []]", "float,Scalar,Scalar,Scalar"})
          .status,
      CostStatus::kNeedsValues);
}

TEST(Quantized, ProductsOfLibraries) {
  constexpr uint64_t kProduct = 2ULL * 16 * 64 * 32;
  Expect("_C::cutlass_scaled_mm",
         {"[[16, 64], [16, 32], [32, 64], [16, 1], [1, 64], [64]]",
          "c10::BFloat16,c10::Float8_e4m3fn,c10::Float8_e4m3fn,float,float,c10::BFloat16"},
         {kProduct, 0, 2 * 16 * 64 + 16 * 32 + 32 * 64 + 4 * (16 + 64) + 2 * 64});
  Expect("fbgemm::f8f8bf16_rowwise",
         {"[[16, 32], [64, 32], [16], [64], [], [], []]",
          "c10::Float8_e4m3fn,c10::Float8_e4m3fn,float,float,,Scalar,"},
         {kProduct, 0, 16 * 32 + 64 * 32 + 4 * (16 + 64) + 2 * 16 * 64});
  Expect("fbgemm::f8f8bf16_rowwise_batched",
         {"[[3, 16, 32], [3, 64, 32], [3, 16], [3, 64]]",
          "c10::Float8_e4m3fn,c10::Float8_e4m3fn,float,float"},
         {3 * kProduct, 0, 3 * (16 * 32 + 64 * 32 + 4 * (16 + 64) + 2 * 16 * 64)});
  Expect("bitsandbytes::int8_linear_matmul", {"[[2, 8, 32], [64, 32]]", "signed char,signed char"},
         {kProduct, 0, 16 * 32 + 64 * 32 + 4 * 16 * 64});
  // 8 weights of 4 bits in a word
  Expect("_C::awq_gemm",
         {"[[16, 32], [32, 8], [1, 64], [1, 8], []]", "c10::Half,int,c10::Half,int,Scalar"},
         {kProduct, 0, 2 * 16 * 32 + 4 * 32 * 8 + 2 * 64 + 4 * 8 + 2 * 16 * 64});
  Expect("_C::gptq_gemm",
         {"[[16, 32], [4, 64], [1, 8], [1, 64], [32], [], [], []]",
          "c10::Half,int,int,c10::Half,int,Scalar,Scalar,Scalar"},
         {kProduct, 0, 2 * 16 * 32 + 4 * 4 * 64 + 4 * 8 + 2 * 64 + 4 * 32 + 2 * 16 * 64});
  Expect("aten::_scaled_mm_v2",
         {"[[16, 32], [32, 64], [[1]], [], [], [[1]], [], [], [], [], [], []]",
          "c10::Float8_e4m3fn,c10::Float8_e4m3fn,TensorList,ScalarList,ScalarList,TensorList,"
          "ScalarList,ScalarList,,Scalar,ScalarList,Scalar",
          ";;;[0];[0];;[0];[0];;15;[];False"},
         {kProduct, 0, 16 * 32 + 32 * 64 + 2 * 16 * 64});
  EXPECT_EQ(Cost("_C::cutlass_scaled_mm",
                 {"[[16, 64], [16, 32], [31, 64]]", "c10::Half,c10::Half,c10::Half"})
                .status,
            CostStatus::kBadShapes);
}

// a is [k, m] or, transposed, [m, k]; the result [n, m].
TEST(Quantized, ProductsOfTransformerEngine) {
  const auto product = [](std::string_view a, std::string_view transposed) {
    const std::string dims = "[" + std::string(a) +
                             ", [1], [], [], [], [64, 32], [1], [], [], [], [64, 16], [], [], [], "
                             "[], [], [], [], [1000], [], [], []]";
    const std::string values =
        ",,,," + std::string(transposed) + ",,,,,False,,,,,,,,False,,0,False,";
    return Cost("tex_ts::te_gemm_ts",
                {dims,
                 "c10::Half,float,Scalar,Scalar,Scalar,c10::Half,float,Scalar,Scalar,Scalar,"
                 "c10::Half,,,,,,,,unsigned char,,,",
                 values});
  };
  constexpr uint64_t kFlops = 2ULL * 64 * 16 * 32;
  EXPECT_EQ(product("[16, 32]", "True").matrix_flops, kFlops);
  EXPECT_EQ(product("[32, 16]", "False").matrix_flops, kFlops);
  EXPECT_EQ(product("[16, 32]", "True").bytes(), 2U * (16 * 32 + 64 * 32 + 64 * 16));
  EXPECT_EQ(product("[16, 31]", "True").status, CostStatus::kBadShapes);
}

TEST(Serving, FusedOperatorsOfVllm) {
  Expect("_C::gelu_new", {"[[8, 16], [8, 16]]", "c10::Half,c10::Half"}, {0, 8 * 128, 512});
  Expect("_C::static_scaled_fp8_quant",
         {"[[8, 16], [8, 16], [1]]", "c10::Float8_e4m3fn,c10::Half,float"},
         {0, 128, 128 + 256 + 4});
  Expect("_C::dynamic_per_token_scaled_fp8_quant",
         {"[[8, 16], [8, 16], [8, 1], []]", "c10::Float8_e4m3fn,c10::Half,float,"},
         {0, 256, 128 + 256 + 32});
  Expect("_C::silu_and_mul_quant", {"[[8, 8], [8, 16], [1]]", "c10::Float8_e4m3fn,c10::Half,float"},
         {0, 6 * 64, 64 + 256 + 4});
  Expect("_C::fused_add_rms_norm_static_fp8_quant",
         {"[[8, 16], [8, 16], [8, 16], [16], [1], []]",
          "c10::Float8_e4m3fn,c10::Half,c10::Half,c10::Half,float,Scalar"},
         {0, 6 * 128, 128 + 3 * 256 + 32 + 4});
  Expect("_moe_C::topk_softmax", {"[[8, 2], [8, 2], [8, 2], [8, 64]]", "float,int,int,float"},
         {0, 6 * 512, 3 * 64 + 4 * 512});
  Expect("_moe_C::moe_sum", {"[[8, 2, 16], [8, 16]]", "c10::Half,c10::Half"}, {0, 256, 512 + 256});
  EXPECT_EQ(Cost("_C::paged_attention_v1", {"[[8, 16]]", "c10::Half"}).status,
            CostStatus::kDependsOnData);
}

// 8 tokens, 4 heads of queries and 2 of keys of 64, of which 32 are rotated.
TEST(Serving, RotationsAndCaches) {
  Expect("_C::rotary_embedding",
         {"[[8], [8, 256], [8, 128], [], [4096, 32], []]",
          "long int,c10::Half,c10::Half,Scalar,c10::Half,Scalar", ",,,64,,True"},
         {0, 3 * 8 * 6 * 32, 8 * 8 + 2 * 8 * 32 + 2 * 2 * 8 * 6 * 32});
  Expect("DaoAILab::_causal_conv1d_fwd_cpp",
         {"[[2, 64, 100], [64, 4], [64], [], [], [2, 64, 100], [], []]",
          "c10::Half,c10::Half,c10::Half,,,c10::Half,,Scalar"},
         {0, 2 * 4 * 12800, 2 * 2 * 12800 + 2 * 256 + 2 * 64});
  Expect("_C_cache_ops::reshape_and_cache_flash",
         {"[[8, 2, 64], [8, 2, 64], [10, 16, 2, 64], [10, 16, 2, 64], [8], [], [], []]",
          "c10::Half,c10::Half,unsigned char,unsigned char,long int,,float,float"},
         {0, 0, 2 * 2 * 1024 + 64 + 2 * 1024});
  Expect("_C_cache_ops::concat_and_cache_mla",
         {"[[8, 512], [8, 64], [10, 16, 576], [8], [], []]",
          "c10::Half,c10::Half,c10::Half,long int,,float"},
         {0, 0, 2 * 2 * 8 * 576 + 64});
}

}  // namespace

}  // namespace borescope::internal::opmodel
