// What matrix kernels multiply, read from the tokens that each family of names uses for it. First
// match decides, as in tensor_cores.cc. NVIDIA publishes no key to the letters of nvjet; the ones
// here were seen beside operators whose types are known.
#include <cstddef>
#include <optional>

#include "borescope/opmodel/devices/ordered_patterns.h"
#include "borescope/opmodel/devices/tensor_cores.h"

namespace borescope::internal {
namespace {

constexpr OperandFormatRule kFormatRules[] = {
    {"mx", R"(^nvjet_\w*_Avec32UE8M0_)", "nvjet_sm100_qqtst_128x128_128x6_Avec32UE8M0_TNT"},
    {"tf32", R"(^nvjet_(?:\w*_)?sss_tf32)", "nvjet_sm90_sss_tf32_128x128_32x4_h_bz_TNN"},
    {"fp16", R"(^nvjet_(?:sm\d+_)?hs[hs]_)", "nvjet_hsh_128x256_64x4_2x1_v_bz_TNN"},
    {"bf16", R"(^nvjet_(?:sm\d+_)?ts[ts]_)", "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_TNN"},
    {"fp8", R"(^nvjet_(?:sm\d+_)?qq)", "nvjet_sm90_qqtst_128x256_128x4_2x1_v_bz_TNT"},
    {"int8", R"(^nvjet_(?:sm\d+_)?biu)", "nvjet_sm90_biu_128x128_128x4_TNN"},
    {"", R"(^nvjet_)", "nvjet_sm90_xyz_128x128_128x4_TNN"},

    // TensorRT-LLM: the type of the result, then those of A and B. Of mixed types the wider one
    // sets the pace.
    {"fp4", R"(^(?:bmm|gemm)_[A-Za-z0-9]+_(?:Mx)?E2m1(?:Mx)?E2m1)",
     "gemm_Bfloat16_E2m1E2m1_Fp32_t128_sm100a"},
    {"mx", R"(^(?:bmm|gemm)_[A-Za-z0-9]+_Mx)",
     "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_sm100f"},
    {"fp8", R"(^(?:bmm|gemm)_[A-Za-z0-9]+_E[45]m[23])", "bmm_Bfloat16_E4m3E4m3_Fp32_t128_sm100a"},
    {"bf16", R"(^(?:bmm|gemm)_[A-Za-z0-9]+_Bfloat16)", "bmm_Fp32_Bfloat16Bfloat16_Fp32_sm100a"},
    {"fp16", R"(^(?:bmm|gemm)_[A-Za-z0-9]+_Fp16)", "bmm_Fp16_Fp16Fp16_Fp32_t128x8x128_sm100a"},

    // Tensile: the type letters behind the index letters of A and B.
    {"fp8", R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}_(?:F8|B8))",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_MT256x256x128_MI16x16x1"},
    {"bf16", R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}_B(?:B|S))",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1"},
    {"fp16", R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}_H)",
     "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN"},
    {"int8", R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}_(?:I8|4xi8))",
     "Cijk_Alik_Bljk_I8II_BH_MT128x128x64_MI32x32x1"},
    {"fp32", R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}_S_?B)",
     "Cijk_Ailk_Bjlk_SB_MT64x64x16_MI32x32x1x2_SE"},
    {"fp64", R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}_D_?B)",
     "Cijk_Ailk_Bljk_DB_MT64x64x16_MI16x16x4x1_SE"},
    {"", R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}_)", "Cijk_Ailk_Bljk_Q_MT64x64x16_MI16x16x4x1_SE"},

    // xmma: the first token behind the kind of kernel that is a type of operands.
    {"bf16", R"(_xmma_[a-z_]*_bf16)", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64"},
    {"fp16", R"(_xmma_[a-z_]*_f16)", "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x64x32"},
    {"int8", R"(_xmma_[a-z_]*_[iu]8)", "sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize128x128x64"},
    {"fp8", R"(_xmma_[a-z_]*_(?:e4m3|e5m2))", "sm90_xmma_gemm_e4m3e4m3_e4m3f32_f32_tn_n"},
    {"fp64", R"(_xmma_[a-z_]*_f64)", "sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16"},

    // Triton's grouped matrix kernels: result x activations x weights, which are widened.
    {"bf16", R"(^_p?_?matmul_ogs_\w*?xbf16x)",
     "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
    {"fp16", R"(^_p?_?matmul_ogs_\w*?xfp16x)", "_matmul_ogs_NNT_fp16xfp16xmxfp4_16x128x256x1"},

    // Words anywhere. tf32 stands beside f32, and short inputs beside a longer accumulator.
    {"tf32", R"(tf32|TF32|tfloat32|_tensor16x8x8)",
     "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x32_stage4_warpsize2x2x1_tensor16x8x8"},
    {"fp4", R"(mxfp4|nvfp4|e2m1|E2M1|E2m1)",
     "cutlass3x_sm100_bstensorop_s128x128x64gemm_block_scaled_ue4m3xe2m1_f32"},
    {"fp8", R"(fp8|FP8|e4m3|e5m2|E4M3|E5M2|E4m3|E5m2|float_e\dm\d)",
     "void deep_gemm::sm90_fp8_gemm_1d2d_impl<7168u>(x)"},
    {"bf16", R"(bf16|BF16|bfloat16|BFloat16|bhalf)",
     "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64>(int)"},
    {"fp16", R"(f16_|fp16|F16|half|Half|hmma|(?:^|_)h(?:884|1688|16816|161616))",
     "volta_h884gemm_256x64_ldg8_nn"},
    {"int8", R"(int8|INT8|imma|_s8_|_u8_|_i8|(?:^|_)i(?:8816|16832))",
     "turing_int8_i8816cudnn_int8_128x128_ldg16_relu_small_nhwc_tn_v1"},
    {"fp64", R"(dmma|f64|double|(?:^|_)d884)", "cutlass_80_tensorop_d884gemm_64x64_16x3_nn_align1"},

    // What is left: an instruction that takes one type only, given results of 32 bits.
    {"fp16", R"(_s884)", "volta_s884gemm_128x128_ldg8_tn"},
    {"tf32", R"(_s1688|fmha_cutlass[FB]_f32)",
     "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x3_nn_align4>(int)"},
};

const OrderedPatterns& FormatPatterns() {
  static const OrderedPatterns patterns(PatternsOfRows<OperandFormatRule>(kFormatRules));
  return patterns;
}

}  // namespace

std::string_view OperandFormat(std::string_view kernel) {
  const std::optional<size_t> rule = FormatPatterns().FirstMatch(kernel);
  return rule.has_value() ? kFormatRules[*rule].format : std::string_view();
}

std::span<const OperandFormatRule> OperandFormatRules() { return kFormatRules; }

}  // namespace borescope::internal
