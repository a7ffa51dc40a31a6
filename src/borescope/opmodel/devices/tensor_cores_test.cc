#include "borescope/opmodel/devices/tensor_cores.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace borescope::internal {
namespace {

TEST(OrderedPatternsTest, ADotIsACharacterOfUtf8) {
  const std::string_view patterns[] = {"^a.b$", "k$"};
  EXPECT_EQ(OrderedPatterns(patterns).FirstMatch("a\u00e9b"), 0U);
  EXPECT_EQ(OrderedPatterns(patterns).FirstMatch("\xff\xfe k"), 1U);
  EXPECT_EQ(OrderedPatterns(patterns).FirstMatch("a\xff\xff"), std::nullopt);
}

TEST(TensorCoresTest, EveryRuleDecidesItsExample) {
  std::vector<std::string_view> patterns;
  for (const MatrixUseRule& rule : MatrixUseRules()) {
    patterns.push_back(rule.pattern);
    EXPECT_EQ(OrderedPatterns(patterns).FirstMatch(rule.example), patterns.size() - 1)
        << rule.family;
    EXPECT_EQ(MatrixUseName(MatrixUseOf(rule.example)), MatrixUseName(rule.use)) << rule.family;
  }
}

TEST(TensorCoresTest, FamiliesAreNamedOnce) {
  std::set<std::string_view> families;
  for (const MatrixUseRule& rule : MatrixUseRules()) {
    EXPECT_TRUE(families.insert(rule.family).second) << rule.family;
  }
}

TEST(OperandFormatTest, EveryRuleDecidesItsExample) {
  std::vector<std::string_view> patterns;
  for (const OperandFormatRule& rule : OperandFormatRules()) {
    patterns.push_back(rule.pattern);
    EXPECT_EQ(OrderedPatterns(patterns).FirstMatch(rule.example), patterns.size() - 1)
        << rule.pattern;
    EXPECT_EQ(OperandFormat(rule.example), rule.format) << rule.pattern;
  }
}

struct Case {
  std::string_view name;
  std::string_view use;
  std::string_view format;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class MatrixKernelTest : public testing::TestWithParam<Case> {};

TEST_P(MatrixKernelTest, IsJudged) {
  EXPECT_EQ(MatrixUseName(MatrixUseOf(GetParam().name)), GetParam().use);
  if (GetParam().use == "yes") {
    EXPECT_EQ(OperandFormat(GetParam().name), GetParam().format);
  }
}

constexpr Case kNvidia[] = {
    // Volta and Turing.
    {"volta_h884gemm_64x128_ldg8_nn", "yes", "fp16"},
    {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_tn", "yes", "fp16"},
    {"volta_s884cudnn_256x64_ldg8_wgrad_idx_exp_interior_nhwc_nt_v1", "yes", "fp16"},
    {"volta_sgemm_32x128_tn", "no", ""},
    {"volta_cgemm_32x32_tn", "no", ""},
    {"turing_fp16_s1688gemm_fp16_256x128_ldg8_f2f_nt", "yes", "fp16"},
    {"turing_h1688cudnn_256x128_ldg8_relu_exp_small_nhwc_tn_v1", "yes", "fp16"},
    // Ampere and Ada.
    {"ampere_sgemm_32x32_sliced1x4_tn", "no", ""},
    {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_tn", "yes", "fp16"},
    {"ampere_bf16_s16816gemm_bf16_128x64_sliced1x2_ldg8_relu_f2f_stages_64x4_tn", "yes", "bf16"},
    {"ampere_s16816gemm_fp16_64x64_sliced1x2_ldg8_stages_64x5_nn", "yes", "fp16"},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nt_align4>(x)", "yes", "tf32"},
    {"cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_tn_align8", "yes", "fp16"},
    {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_64x64_16x10>(x)",
     "yes", "tf32"},
    {"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x16_stage3_warpsize2x2x1_tensor16x8x8",
     "yes", "tf32"},
    {"sm86_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
     "yes", "fp16"},
    {"sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16_stage3_warpsize4x2x1", "yes", "fp64"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4",
     "no", ""},
    {"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize128x16x8_stage3_"
     "warpsize4x1x1_g1_ffma",
     "no", ""},
    {"sm80_xmma_dgrad_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x64x8_stage3", "no",
     ""},
    {"sm86_xmma_wgrad_implicit_gemm_indexed_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize32x32x8", "no",
     ""},
    {"sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x64x32_stage5",
     "yes", "tf32"},
    {"sm80_xmma_wgrad_implicit_gemm_indexed_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize64x64x16_"
     "stage4_warpsize2x2x1_g1_tensor16x8x8",
     "yes", "tf32"},
    // Hopper and Blackwell.
    {"nvjet_hsh_192x192_64x4_1x2_h_bz_coopB_NNT", "yes", "fp16"},
    {"nvjet_sm100_tss_128x256_64x6_2x1_v_bz_TNT", "yes", "bf16"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32_warpgroupsize1x1x1", "yes", "tf32"},
    {"sm100_xmma_gemm_e4m3e4m3_e4m3f32_f32_tn_n_tilesize128x128x128", "yes", "fp8"},
    {"void cutlass::device_kernel<vllm::cutlass_3x_gemm<cutlass::float_e4m3_t, "
     "cutlass::gemm::collective::MainloopSm90TmaGmmaWarpSpecialized<5, cute::GMMA::Major> > >(x)",
     "yes", "fp8"},
    {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t> >(x)",
     "yes", "bf16"},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(x)", "yes", "tf32"},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm75(x)", "not_matrix", ""},
    {"triton_tem_fused_addmm_relu_1", "yes", ""},
    {"triton_red_fused__flash_attention_forward_3", "not_matrix", ""},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::F>(x)", "not_matrix", ""},
    {"void dot_kernel<float, 128, 0, cublasDotParams<float> >(x)", "no", ""},
};
INSTANTIATE_TEST_SUITE_P(Nvidia, MatrixKernelTest, testing::ValuesIn(kNvidia));

constexpr Case kAmd[] = {
    {"Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1_SN_1LDSB0", "yes", "fp16"},
    {"Cijk_Alik_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT64x64x32_MI16x16x1_SN", "yes", "fp32"},
    {"Cijk_Ailk_Bljk_SB_MT32x32x8_SE_1LDSB0", "no", ""},
    {"igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x32_wt32x32x8", "yes", "bf16"},
    {"miopenSp3AsmConv_v21_1_3_gfx9_fp32_f3x2_stride1", "not_matrix", ""},
    {"_ZN7ck_tile6kentryILi2ENS_13FmhaFwdKernelINS_8bhalf_tEEEEEvT0_", "yes", "bf16"},
    {"void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16>(x)", "yes", "bf16"},
    {"attn_fwd", "yes", ""},
    {"SubTensorOpWithCastTensor1d", "not_matrix", ""},
};
INSTANTIATE_TEST_SUITE_P(Amd, MatrixKernelTest, testing::ValuesIn(kAmd));

TEST(TensorCoresTest, OnlyTheOperatorTellsThatAnUnknownNameIsMatrixWork) {
  EXPECT_EQ(MatrixUseOf("my_fancy_kernel"), MatrixUse::kNotMatrix);
  EXPECT_EQ(MatrixUseOf("my_fancy_kernel", true), MatrixUse::kUnknown);
  EXPECT_EQ(MatrixUseOf("volta_sgemm_32x128_tn", true), MatrixUse::kNo);
}

TEST(TensorCoresTest, HostileNamesTakeLinearTime) {
  std::string name = "sm80_xmma_";
  for (int i = 0; i < 100'000; ++i) {
    name += "winograd_f1";
  }
  EXPECT_EQ(MatrixUseOf(name), MatrixUse::kNo);
  EXPECT_EQ(MatrixUseOf(std::string("\xff\x00\x80", 3)), MatrixUse::kNotMatrix);
}

TEST(TensorCoresTest, SizesThatAreNoMultipleAreNamed) {
  const NamedSize sizes[] = {{"M", 4096}, {"N", 1000}, {"K", 257}};
  const std::vector<NamedSize> half = MisalignedSizes(sizes, 16);
  ASSERT_EQ(half.size(), 1u);
  EXPECT_EQ(half[0].name, "K");
  const std::vector<NamedSize> bytes = MisalignedSizes(sizes, 8);
  ASSERT_EQ(bytes.size(), 2u);
  EXPECT_EQ(bytes[0].name, "N");
  EXPECT_EQ(bytes[0].size, 1000);
  EXPECT_EQ(MatrixAlignment(32), 4);
}

}  // namespace
}  // namespace borescope::internal
