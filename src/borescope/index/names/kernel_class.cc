// The table that classifies device functions by their name.
//
// To add a family: one row in kRules with a real example. Rows are tried from top to bottom and the
// first match wins, so a row may rely on what the rows above it have taken away. A pattern is a
// list of alternatives in lower case, separated by '|'; '^' in front ties one to the start of the
// text. Most rows look at the base name only (no template arguments, no parameter types, no return
// type), because ATen writes whole functors into those; rows marked kFull look at everything.
#include "borescope/index/names/kernel_class.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "borescope/base/check.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

enum class Text : uint8_t { kBase, kFull };

struct Rule {
  KernelRule info;
  Text text;
  std::string_view patterns;
};

constexpr auto kBase = Text::kBase;
constexpr auto kFull = Text::kFull;

constexpr Rule kRules[] = {
    // Inductor lists the fused operators in the name ("..._all_reduce_addmm_..."), so its own
    // prefix has to decide before any of those words is searched for.
    {{"Inductor attention templates", KernelClass::kAttention, "triton_tem_fused_flex_attention_0"},
     kBase,
     "triton_tem_fused_flex_attention|triton_tem_fused__scaled_dot|triton_flex_attention"},
    {{"Inductor convolution templates", KernelClass::kConv, "triton_tem_fused_convolution_3"},
     kBase,
     "triton_tem_fused_convolution|triton_tem_fused__convolution|triton_convolution"},
    {{"Inductor matrix templates", KernelClass::kGemm, "triton_tem_fused_addmm_relu_1"},
     kBase,
     "triton_tem_|triton_mm|triton_bmm"},
    {{"Inductor reductions", KernelClass::kReduction, "triton_red_fused_add_mean_mul_pow_rsqrt_0"},
     kBase,
     "triton_red_|triton_per_|triton_spl_"},
    {{"Inductor pointwise", KernelClass::kPointwise, "triton_poi_fused_add_cos_sin_0"},
     kBase,
     "triton_poi_|triton_for_"},

    {{"reductions of nvFuser", KernelClass::kReduction,
      "<unnamed>::nvfuser_inner_persistent_f0_c1_r0_g2(<unnamed>::Tensor<float, (int)3, (int)3>)"},
     kBase,
     "nvfuser_inner_|nvfuser_outer_"},

    // Communication. Words like "reduce" alone never decide.
    {{"NCCL and RCCL", KernelClass::kCollective,
      "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"},
     kBase,
     "^nccl|nccldevkernel|ncclkernel|^rccl|onerankreduce"},
    {{"MSCCL and MSCCL++", KernelClass::kCollective, "mscclKernel_Sum_half_Simple_true"},
     kBase,
     "msccl"},
    {{"oneCCL, XCCL, HCCL and MTIA collectives", KernelClass::kCollective, "hccl::allreduce"},
     kBase,
     "^hccl|^xccl|^ccl::|oneccl|oneapi::ccl|^collective_subgraph_execution"},
    {{"custom and one-shot all-reduce", KernelClass::kCollective,
      "void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>(vllm::RankData*)"},
     kBase,
     "cross_device_reduce|one_shot_all|two_shot_all|oneshotall|twoshotall|multimem_|quickreduce|"
     "allreduce_prototype|ar_fusion|lamport"},
    {{"named collectives", KernelClass::kCollective,
      "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot"},
     kBase,
     "all_reduce|allreduce|all_gather|allgather|reduce_scatter|reducescatter|all_to_all|alltoall|"
     "all2all"},
    {{"symmetric memory and user buffers", KernelClass::kCollective,
      "void userbuffers_fp16_sum_inplace_gpu_rr_rs<8>(int, int)"},
     kBase,
     "symm_mem|symmetric_memory|userbuffers|put_signal_kernel|wait_signal_kernel"},
    {{"DeepEP and NVSHMEM", KernelClass::kCollective,
      "void deep_ep::internode::dispatch<false, 8>(int4*, float*)"},
     kBase,
     "deep_ep::|nvshmem|rocshmem|^mori::|^internode::|^intranode::"},

    // Data movement by kernels.
    {{"ROCm blit kernels", KernelClass::kCopy, "__amd_rocclr_copyBuffer.kd"},
     kBase,
     "__amd_rocclr_|^copyhosttodevice|^copydevicetohost|^copydevicetodevice|^fillbuffer|^"
     "copybuffer"},
    {{"copies named like the API", KernelClass::kCopy, "Memcpy HtoD (Pageable -> Device)"},
     kFull,
     "^memcpy|^memset|^hipmemcpy|^hipmemset|^dma"},

    // ATen's generic skeletons: the base name says what they do; the functor would mislead.
    {{"indexed and gathered element-wise", KernelClass::kEmbedding,
      "void at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::F>(int)"},
     kBase,
     "scatter_gather|index_elementwise"},
    {{"element-wise skeletons", KernelClass::kPointwise,
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> "
      ">(int)"},
     kBase,
     "elementwise"},
    {{"reduction skeleton", KernelClass::kReduction,
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
      "at::native::NormTwoOps<float> > >(int)"},
     kBase,
     "native::reduce_kernel"},

    // Attention comes before other words in its names (softmax, gemm).
    {{"cache writes of serving engines", KernelClass::kPointwise,
      "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16>(int)"},
     kBase,
     "reshape_and_cache|concat_and_cache"},
    {{"fused attention", KernelClass::kAttention,
      "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64> >(int)"},
     kBase,
     "flash_fwd|flash_bwd|flash_attn|flashattn|flash_attention|fmha|attn_fwd|attn_bwd|sage_fwd|"
     "mha_fwd|mha_bwd|sdpa|mla_decode|mla_fwd|batchprefillwith|batchdecodewith|singleprefillwith|"
     "bwd_kernel_dk_dv|bwd_preprocess|bwd_kernel_dq|_fwd_grouped_kernel_stage|_fwd_kernel_stage"},
    {{"paged and other attention", KernelClass::kAttention,
      "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>(int)"},
     kBase,
     "attention|pagedattn|merge_attn_states"},
    {{"attention of template libraries", KernelClass::kAttention,
      "_ZN7ck_tile6kentryILi1ENS_13FmhaFwdKernelINS_21BlockFmhaPipelineEEEEEvT0_"},
     kFull,
     "fmhafwd|fmhabwd|flashattnfwd|flashattnbwd|attentionkernel"},

    // Normalisation; SyncBatchNorm computes, whatever its name suggests.
    {{"normalisation", KernelClass::kNorm,
      "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(int)"},
     kBase,
     "batch_norm|batchnorm|bn_fw|bn_bw|layer_norm|layernorm|rms_norm|rmsnorm|group_norm|groupnorm|"
     "instance_norm|instancenorm|ln_fwd|ln_bwd|rowwisemoments|gammabeta|fusedparamscuda|"
     "internalgradientscuda|l2norm|weight_norm"},
    {{"softmax and cross entropy", KernelClass::kSoftmax,
      "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float>(float*)"},
     kBase,
     "softmax|cross_entropy"},

    {{"rotary position encodings", KernelClass::kPointwise,
      "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)"},
     kBase,
     "rotary|_rope_|rope_kernel"},

    // Tables of embeddings and sparse features. FBGEMM's names contain "gemm" and "adagrad".
    {{"embedding tables", KernelClass::kEmbedding,
      "void split_embedding_codegen_forward_unweighted_kernel<c10::Half, float>(int)"},
     kBase,
     "embedding|pooled_embs|bounds_check_indices|linearize_index|jagged|fbgemm_gpu::permute|"
     "offsets_range"},
    {{"index, gather and scatter", KernelClass::kEmbedding,
      "void at::native::(anonymous namespace)::indexSelectLargeIndex<long, long>(int)"},
     kBase,
     "index_select|indexselect|index_put|indexing_backward|index_add|indexfunc|gather|scatter|"
     "index_copy"},
    {{"optimizer steps", KernelClass::kOptimizer,
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<1> "
      ">(int)"},
     kBase,
     "multi_tensor_apply|fused_adam|fusedadam|adam_kernel|adamw|adagrad|fused_sgd|fusedsgd|"
     "fused_lamb|fusedlamb|lamb_stage"},
    {{"quantisation and casts", KernelClass::kPointwise,
      "void fbgemm_gpu::(anonymous namespace)::_compute_FP8_quantize_cuda_kernel<float>(int)"},
     kBase,
     "fbgemm_gpu::_|quantize|quant_kernel|_quant_"},

    // What stands around the matrix work of experts. Its template arguments name number types of
    // CUTLASS, and the offsets it computes are no convolution's.
    {{"routing to experts", KernelClass::kSort,
      "void moe::dev::routing::routingIndicesOffsetsKernel<moe::dev::routing::KernelParams<int> "
      ">(int)"},
     kBase,
     "moe::dev::routing|_combined_routing|bitmatrix"},
    {{"permuting and combining for experts", KernelClass::kPointwise,
      "void moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<"
      "cutlass::bfloat16_t> >(int)"},
     kBase,
     "moe::dev::finalize|moe::dev::permute|moe::dev::activation|moe::dev::convertsf"},

    // Layout changes belong to no convolution in particular.
    {{"layout changes", KernelClass::kPointwise,
      "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"},
     kBase,
     "nchwtonhwc|nhwctonchw|batched_transpose|tensor_transform|nchwaddpadding|nhwcaddpadding|"
     "scalepackedtensor|subtensorop|optensor"},

    // Matrix work. Convolutions first: most of them are implicit GEMMs by name.
    {{"pooling", KernelClass::kReduction,
      "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int)"},
     kBase,
     "max_pool|avg_pool|average_pool|pooling"},
    {{"convolution", KernelClass::kConv,
      "cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"},
     kBase,
     "scudnn|cudnn_fp16|884cudnn|1688cudnn|16816cudnn|convolve|convolution|conv1d|conv2d|conv3d|"
     "_conv_|conv_depthwise|naive_conv|winograd|im2col|col2im|vol2col|grouped_direct|igemm_fwd_gtc|"
     "igemm_bwd_gtc|igemm_wrw_gtc|miopensp3|miopengcn|miopenconv|fft2d_r2c|fft2d_c2r|fft1d_r2c|"
     "fft1d_c2r|offsetskernel|cudnn::cnn"},
    {{"implicit GEMM convolution", KernelClass::kConv,
      "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5"},
     kFull,
     "implicit_gemm|implicitgemm|fprop|dgrad|wgrad|_convolution_"},
    {{"vendor GEMM libraries", KernelClass::kGemm,
      "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1"},
     kBase,
     "cijk_|nvjet_|gemm|gemv|splitkreduce|splitk_reduce|cublas|wvspltk|^bmm_|reduce_1block_kernel|"
     "dot_kernel"},
    {{"matrix multiplication templates", KernelClass::kGemm,
      "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
     kBase,
     "matmul|fused_moe_kernel|marlin|tensile"},
    {{"fully connected layers of MTIA", KernelClass::kGemm, "fc-dtype_Float"}, kBase, "^fc-dtype"},
    {{"GEMM by template argument", KernelClass::kGemm,
      "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64>(int)"},
     kFull,
     "cutlass|ck_tile::gemm|cublaslt|cublasgemv|gemm::kernel"},

    // Order matters less from here on: the remaining kernels are named for what they do.
    {{"sort, scan and selection", KernelClass::kSort,
      "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int> >(int)"},
     kBase,
     "radixsort|radix_sort|mergesort|bitonic|sort|topk|top_k|devicescan|scan_|_scan|cumsum|"
     "devicecompact|deviceselect|partition_kernel|reducebykey|unique|histogram|searchsorted|"
     "sampling"},
    {{"reductions", KernelClass::kReduction,
      "void cub::DeviceReduceKernel<cub::DeviceReducePolicy<float> >(int)"},
     kBase,
     "reduce_kernel|reduction|devicereduce|reducekernel|argmax|argmin|nll_loss|_loss_|lpnorm"},
    {{"copies and fills in kernels", KernelClass::kPointwise,
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, "
      "1>(int)"},
     kBase,
     "catarray|copy|fill|transpose|permute|concat|split|pad_|_pad|cast|convert|roll_|flip"},
    {{"activations and dropout", KernelClass::kPointwise,
      "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned "
      "int>(int)"},
     kBase,
     "dropout|gelu|silu|swiglu|relu|act_and_mul|activation|rotary|rope|bias_add|add_bias"},
    {{"random numbers and ranges", KernelClass::kPointwise,
      "void at::native::(anonymous namespace)::distribution_kernel<float>(int)"},
     kBase,
     "distribution|random|philox|arange|triu|tril|upsample|interp|grid_sample|scal_kernel|"
     "compute_cuda_kernel|pointwise"},
};

constexpr size_t kRuleCount = std::size(kRules);

constexpr std::array<KernelRule, kRuleCount> kRuleInfos = [] {
  std::array<KernelRule, kRuleCount> infos{};
  for (size_t i = 0; i < kRuleCount; ++i) {
    infos[i] = kRules[i].info;
  }
  return infos;
}();

// Cuts template arguments and parameter lists: "void a::(anonymous namespace)::f<int>(x)" becomes
// "a::f". Names without brackets stay as they are, blanks included.
std::string BaseName(std::string_view lower) {
  std::string result;
  int depth = 0;
  for (const char c : lower) {
    if (c == '<' || c == '(') {
      ++depth;
    } else if (c == '>' || c == ')') {
      depth = std::max(0, depth - 1);
    } else if (depth == 0 && !(c == ':' && result.ends_with("::"))) {
      result.push_back(c);
    }
  }
  if (result.size() == lower.size()) {
    return result;
  }
  // The return type, "void" or "std::enable_if...::type", ends at the last blank before the name.
  const size_t end = result.find_last_not_of(' ');
  result.resize(end == std::string::npos ? 0 : end + 1);
  return result.substr(result.rfind(' ') + 1);  // npos + 1 is 0
}

bool MatchesOne(std::string_view text, std::string_view pattern) {
  return pattern.starts_with('^') ? text.starts_with(pattern.substr(1))
                                  : text.find(pattern) != std::string_view::npos;
}

bool MatchesAny(std::string_view text, std::string_view patterns) {
  while (!patterns.empty()) {
    const size_t bar = std::min(patterns.find('|'), patterns.size());
    if (MatchesOne(text, patterns.substr(0, bar))) {
      return true;
    }
    patterns.remove_prefix(std::min(bar + 1, patterns.size()));
  }
  return false;
}

}  // namespace

std::string_view KernelClassName(KernelClass kind) {
  constexpr std::string_view kNames[] = {
      "gemm",      "conv",      "attention", "norm",       "softmax", "reduction", "pointwise",
      "embedding", "optimizer", "sort",      "collective", "copy",    "other"};
  static_assert(std::size(kNames) == static_cast<size_t>(KernelClass::kCount));
  BS_DCHECK(kind < KernelClass::kCount);
  return kNames[static_cast<size_t>(kind)];
}

KernelClass ClassifyKernel(std::string_view name) {
  const std::string full = LowerCase(name);
  const std::string base = BaseName(full);
  for (const Rule& rule : kRules) {
    if (MatchesAny(rule.text == Text::kBase ? base : full, rule.patterns)) {
      return rule.info.kind;
    }
  }
  return KernelClass::kOther;
}

Activity ActivityOf(DeviceKind kind, KernelClass kernel_class) {
  if (kind == DeviceKind::kMemcpy || kind == DeviceKind::kMemset) {
    return Activity::kCopy;
  }
  switch (kernel_class) {
    case KernelClass::kCollective:
      return Activity::kCommunication;
    case KernelClass::kCopy:
      return Activity::kCopy;
    default:
      return Activity::kCompute;
  }
}

std::span<const KernelRule> KernelRules() { return kRuleInfos; }

std::vector<std::string_view> KernelPatterns() {
  std::vector<std::string_view> patterns;
  patterns.reserve(kRuleCount);
  for (const Rule& rule : kRules) {
    patterns.push_back(rule.patterns);
  }
  return patterns;
}

}  // namespace borescope::internal
