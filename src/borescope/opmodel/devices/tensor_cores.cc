// Which names show that a kernel uses matrix units, and on which operands. Rows are tried from top
// to bottom and the first match decides, so a row may rely on what the rows above it have taken
// away. To add a family: one row in kMatrixUseRules with a real name as its example.
#include "borescope/opmodel/devices/tensor_cores.h"

#include <re2/re2.h>

#include <cstddef>
#include <optional>
#include <string>

#include "borescope/base/check.h"
#include "borescope/base/memory_limit.h"

namespace borescope::internal {

namespace {

// RE2 reads UTF-8; names are made valid UTF-8 when they are read. Patterns never match other bytes.
RE2::Options Quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

}  // namespace

OrderedPatterns::OrderedPatterns(std::span<const std::string_view> patterns) {
  patterns_.reserve(patterns.size());
  for (const std::string_view pattern : patterns) {
    AskForMemory(kExpressionBytes);
    patterns_.push_back(std::make_unique<RE2>(std::string(pattern), Quiet()));
    BS_CHECK(patterns_.back()->ok());
  }
}

OrderedPatterns::~OrderedPatterns() = default;

std::optional<size_t> OrderedPatterns::FirstMatch(std::string_view name) const {
  const re2::StringPiece text(name.data(), name.size());
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (RE2::PartialMatch(text, *patterns_[i])) {
      return i;
    }
  }
  return std::nullopt;
}

namespace {

constexpr auto kYes = MatrixUse::kYes;
constexpr auto kNo = MatrixUse::kNo;
constexpr auto kNotMatrix = MatrixUse::kNotMatrix;

constexpr MatrixUseRule kMatrixUseRules[] = {
    // Names that only look like matrix work.
    {"Inductor pointwise and reductions, whose names list fused operators", kNotMatrix,
     R"(^triton_(?:poi|red|per|for)_fused)", "triton_poi_fused_addmm_gelu_view_15"},
    {"MIOpen tensor operators", kNotMatrix, R"(^(?:Sub|Op)TensorOp|^OpTensor|^SubTensor)",
     "SubTensorOpWithScalar1d"},
    {"helpers of matrix kernels", kNotMatrix,
     R"(splitK_?[Rr]educe|ReduceSplitK|reduce_1Block_kernel|[Oo]ffsetsKernel|nchwToNhwc|)"
     R"(nhwcToNchw|winograd\w*(?:Data|Filter|Output|Delta)|generateWinogradTiles|)"
     R"(reduce_wgrad_nchw|scalePackedTensor|epilogue::impl::globalKernel|batched_transpose_|)"
     R"(reshape_and_cache)",
     "void cublasLt::splitKreduce_kernel<32, 16, int, __half, __half, float>(x)"},
    {"normalisation and quantisation", kNotMatrix,
     R"([Rr]ms_?[Nn]orm|[Qq]uantiz|_quant_kernel|fp8_quant)",
     "void vllm::rms_norm_kernel<c10::Half>(c10::Half*)"},

    // Multiply-adds of the vector units.
    {"FFMA variants of xmma", kNo, R"(_ffma_)",
     "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_ffma_kernel"},
    {"CUTLASS SIMT", kNo, R"(_simt_|OpClassSimt|MmaSimt)",
     "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>(x)"},
    {"plain GEMM", kNo, R"((?:^|_|::|\s)[sdczh]gemm(?:_|Ex|\b)|_(?:g?cf?)gemm_|_largek_lds64)",
     "volta_sgemm_128x64_nn"},
    {"plain convolution", kNo,
     R"((?:^|_)scudnn_|implicit_convolve_sgemm|dgrad_engine|wgrad_alg0_engine|dgrad2d_alg1_1|)"
     R"(winograd3x3Kernel|[Ww]inograd|DepthwiseConvolution|conv_depthwise)",
     "cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"},
    {"matrix times vector", kNo, R"(gemv|GEMV|gemmk1_kernel|\bdot_kernel)",
     "void gemmk1_kernel<int, float, 256, 5, false>(x)"},

    // Matrix units: first by the shape of their instruction.
    {"MMA shapes in old names", kYes,
     R"((?:^|[_<\s])[a-z]{0,3}(?:884|1684|1688|16816|16832|16864|161616|8816|8832|8864|168128|)"
     R"(168256)(?:gemm|cudnn|fprop|dgrad|wgrad|igemm))",
     "volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1"},
    {"CUTLASS 3", kYes,
     R"(_[a-z]{1,3}\d+x\d+x\d+(?:tf32)?(?:gemm|fprop|dgrad|wgrad)|cutlass3x_sm(?:9|1)\d+_)",
     "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_2x1x1_0_tnn"},
    {"CUTLASS tensor operations", kYes, R"(_tensorop_|OpClass(?:Wmma)?TensorOp|Mma\w*TensorOp)",
     "void cutlass::gemm::MmaTensorOp<cutlass::half_t>(x)"},
    {"xmma with an MMA shape", kYes, R"(_xmma_\w*_tensor\d+x\d+x\d+)",
     "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x32_stage4_warpsize2x2x1_tensor16x8x8"},
    {"xmma of Hopper and later", kYes, R"(sm(?:9\d|1\d\d)_xmma_)",
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute"},
    {"xmma on short operands", kYes,
     R"(sm[78]\d_xmma_\w*?_(?:f16|bf16|tf32|i8|u8|e4m3|e5m2|f64)\w*?_)",
     "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5"},
    {"xmma on operands of 32 bits without an MMA shape", kNo,
     R"(sm[78]\d_xmma_[a-z_]*_f32f32_f32f32_f32)",
     "sm70_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize128x128x8_stage1"},
    {"names of instructions", kYes,
     R"((?:^|[_\W])(?:wgmma|hmma|imma|dmma|qmma|wmma|tcgen05|GMMA|UMMA))",
     "void cutlass::device_kernel<gemm::SM90_64x64x16_F32BF16BF16_SS, cute::GMMA::Major>(x)"},
    {"nvjet of cuBLASLt", kYes, R"(^nvjet_)", "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_TNN"},
    {"fused attention", kYes,
     R"(flash_(?:fwd|bwd)_|[Ff]lash_?[Aa]ttn?(?:ention)?_?(?:[Ff]wd|[Bb]wd|Forward|Backward)|)"
     R"(fmha_cutlass[FB]_(?:f16|bf16)\w*_sm(?:7|8|9|1)\d|fmha_cutlass[FB]_f32\w*_sm(?:8|9|1)\d|)"
     R"(fmhaSm\d|native_sdpa|fmha_(?:fwd|bwd)_hd|^attn_(?:fwd|bwd)|sage_fwd|)"
     R"(Batch(?:Prefill|DecodeMLA)With|SinglePrefillWith|Fmha(?:Fwd|Bwd|Batch)|)"
     R"(unified_attention_[23]d)",
     "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 64, 4> >(x)"},
    {"generated by TensorRT-LLM", kYes, R"(^(?:bmm|gemm)_[A-Z]\w+_sm\d+)",
     "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_sm100f"},
    {"DeepGEMM", kYes, R"(deep_gemm::sm)", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<7168u>(x)"},
    {"Triton matrix templates", kYes,
     R"(_matmul_ogs_|^triton_tem_fused\w*(?:mm|bmm|addmm|baddbmm|attention|convolution))",
     "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
    {"Tensile and hipBLASLt with MFMA", kYes,
     R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}\w*_MI\d+x\d+x\d+)",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1"},
    {"Tensile without MFMA", kNo, R"(C[a-z]{3,5}_A[a-z]{3,5}_B[a-z]{3,5}_)",
     "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1"},
    {"implicit GEMM of MIOpen", kYes, R"(igemm_(?:fwd|bwd|wrw)_gtc[xn]\d?)",
     "igemm_fwd_gtcx3_nhwc_fp16_bx0_ex1_bt256x128x32"},
    {"Composable Kernel, MFMA and WMMA", kYes, R"(xdlops|_xdl_|xdl_cshuffle|_wmma_|mfma)",
     "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm>(x)"},
    {"first convolutions on tensor cores", kYes,
     R"(first_layer_(?:fwd|wgrad)_kernel|dgrad_1x1_stride_2x2|conv2d_c1_k1|direct_group|)"
     R"(xmma_sparse_(?:conv|gemm)|c1688)",
     "void conv2d_c1_k1_nchw_hw_packed_kernel<__half, float>(x)"},
};

const OrderedPatterns& MatrixUsePatterns() {
  static const OrderedPatterns patterns(PatternsOfRows<MatrixUseRule>(kMatrixUseRules));
  return patterns;
}

}  // namespace

std::string_view MatrixUseName(MatrixUse use) {
  constexpr std::string_view kNames[] = {"yes", "no", "not_matrix", "unknown"};
  return kNames[static_cast<size_t>(use)];
}

MatrixUse MatrixUseOf(std::string_view kernel, bool of_matrix_op) {
  const std::optional<size_t> rule = MatrixUsePatterns().FirstMatch(kernel);
  if (rule.has_value()) {
    return kMatrixUseRules[*rule].use;
  }
  return of_matrix_op ? MatrixUse::kUnknown : kNotMatrix;
}

std::span<const MatrixUseRule> MatrixUseRules() { return kMatrixUseRules; }

int64_t MatrixAlignment(int64_t element_bits) {
  BS_DCHECK(element_bits > 0 && element_bits <= 64);
  return 128 / element_bits;
}

std::vector<NamedSize> MisalignedSizes(std::span<const NamedSize> sizes, int64_t element_bits) {
  const int64_t multiple = MatrixAlignment(element_bits);
  std::vector<NamedSize> misaligned;
  for (const NamedSize& size : sizes) {
    if (size.size % multiple != 0) {
      misaligned.push_back(size);
    }
  }
  return misaligned;
}

// The operands of matrix kernels, read from the tokens that each family of names uses for them. The
// first match counts. NVIDIA publishes no key to the letters of nvjet; the ones here were seen
// beside operators whose types are known.

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

    // Tensile: the type letters after the index letters of A and B.
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

    // xmma: the first token after the kind of kernel that is a type of operands.
    {"bf16", R"(_xmma_[a-z_]*_bf16)", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64"},
    {"fp16", R"(_xmma_[a-z_]*_f16)", "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x64x32"},
    {"int8", R"(_xmma_[a-z_]*_[iu]8)", "sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize128x128x64"},
    {"fp8", R"(_xmma_[a-z_]*_(?:e4m3|e5m2))", "sm90_xmma_gemm_e4m3e4m3_e4m3f32_f32_tn_n"},
    {"fp64", R"(_xmma_[a-z_]*_f64)", "sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16"},

    // Triton's grouped matrix kernels: result x activations x weights, which are widened.
    {"bf16", R"(^_p?_?matmul_ogs_\w*?xbf16x)",
     "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
    {"fp16", R"(^_p?_?matmul_ogs_\w*?xfp16x)", "_matmul_ogs_NNT_fp16xfp16xmxfp4_16x128x256x1"},

    // Words anywhere in the name. tf32 comes before f32, and short inputs before a longer
    // accumulator, as names have both.
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
