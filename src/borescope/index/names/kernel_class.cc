// The table that classifies device functions by their name.
//
// To add a family: one row in kRules with a real example. Rows are tried from top to bottom and the
// first match wins, so a row may rely on what the rows above it have taken away. A pattern is a
// list of alternatives in lower case, separated by '|', each of three characters or more; A leading
// '^' anchors an alternative at the start of the text, a trailing '$' at its end. Most rows look at
// the base name only (no template arguments, no parameter types, no return type), because ATen
// writes whole functors into those; rows marked kFull look at everything.
#include "borescope/index/names/kernel_class.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

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
    {{"collectives of XLA", KernelClass::kCollective, "all-reduce-start.1"},
     kBase,
     "all-reduce|all-gather|reduce-scatter|all-to-all|^collective-"},
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
     "reshape_and_cache|concat_and_cache|mla_kv_buffer|store_kvcache|appendpagedkvcache|dequant_"
     "cache|"
     "kv_indices|store_flashmla_cache|store_indexer_cache|kv_compress|concat_and_cast|req_to_"
     "token"},
    {{"fused attention", KernelClass::kAttention,
      "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64> >(int)"},
     kBase,
     "flash_fwd|flash_bwd|flash_attn|flashattn|flash_attention|fmha|attn_fwd|attn_bwd|sage_fwd|"
     "mha_fwd|mha_bwd|sdpa|mla_decode|mla_fwd|batchprefillwith|batchdecodewith|singleprefillwith|"
     "bwd_kernel_dk_dv|bwd_preprocess|bwd_kernel_dq|_fwd_grouped_kernel_stage|_fwd_kernel_stage|"
     "^_fwd_kernel$|^_bwd_kernel$|flash_decode|singledecodewith|prefillwith|mergestates|_bwd_dkdv|"
     "compute_dot_do_o|convert_dq_to"},
    {{"multi-head latent attention", KernelClass::kAttention,
      "_ZN5aiter41mla_dec_stage1_bf16_a16w16_subQ128_mqa128E"},
     kBase,
     "mla_|mqa_logits"},
    {{"paged and other attention", KernelClass::kAttention,
      "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>(int)"},
     kBase,
     "attention|pagedattn|paged_attn|sparse_attn|merge_attn_states|correct_attn|reduce_segments|"
     "pa_bf16_|pa_fp16_|pa_a16w8|^kernel_mha|xqa_kernel|^la_persistent"},
    {{"linear attention", KernelClass::kAttention,
      "chunk_gated_delta_rule_fwd_kernel_h_blockdim64"},
     kBase,
     "delta_rule|linear_attn|chunk_fwd_kernel|chunk_bwd_kernel|chunk_scaled_dot_kkt|recompute_w_u|"
     "merge_16x16_to|_fwd_diag_kernel"},
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
     "internalgradientscuda|l2norm|weight_norm|qk_norm|qknorm|fused_rms_"},
    {{"softmax and cross entropy", KernelClass::kSoftmax,
      "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float>(float*)"},
     kBase,
     "softmax|cross_entropy"},

    // Work around the matrix products of experts. Its template arguments name number types of
    // CUTLASS, and its offsets are not those of convolutions.
    {{"routing to experts", KernelClass::kSort,
      "void moe::dev::routing::routingIndicesOffsetsKernel<moe::dev::routing::KernelParams<int> "
      ">(int)"},
     kBase,
     "moe::dev::routing|_combined_routing|bitmatrix|routingindices|moesorting|moe_sort|mxfp4_sort|"
     "moe_align|moe_fused_gate|expertfirsttoken|expertprefixsum"},
    {{"sorting for experts of Composable Kernel", KernelClass::kSort,
      "void ck_tile::kentry<2, ck_tile::MoeSortingMultiPhaseKernel_P0_v2<int> >(int)"},
     kFull,
     "moesortingmultiphase|moesortingkernel"},
    {{"sums over experts", KernelClass::kReduction,
      "void vllm::moe::moe_sum_kernel<c10::BFloat16, 8>(c10::BFloat16*)"},
     kBase,
     "moe_sum"},
    {{"permuting and combining for experts", KernelClass::kPointwise,
      "void moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<"
      "cutlass::bfloat16_t> >(int)"},
     kBase,
     "moe::dev::finalize|moe::dev::permute|moe::dev::activation|moe::dev::convertsf|"
     "expandinputrows|"
     "shuffleinputrows|finalizemoerouting|doactivationkernel|reorder_triton|_ep_scatter|_ep_"
     "gather"},

    {{"rotary position encodings", KernelClass::kPointwise,
      "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)"},
     kBase,
     "rotary|_rope_|rope_kernel|kn_entry_"},

    // Tables of embeddings and sparse features. FBGEMM's names contain "gemm" and "adagrad".
    {{"embedding tables", KernelClass::kEmbedding,
      "void split_embedding_codegen_forward_unweighted_kernel<c10::Half, float>(int)"},
     kBase,
     "embedding|pooled_embs|bounds_check_indices|linearize_index|jagged|fbgemm_gpu::permute|"
     "offsets_range|lookup_kernel"},
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

    // Layout changes belong to no convolution in particular.
    {{"layout changes", KernelClass::kPointwise,
      "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"},
     kBase,
     "nchwtonhwc|nhwctonchw|batched_transpose|tensor_transform|nchwaddpadding|nhwcaddpadding|"
     "scalepackedtensor|subtensorop|optensor|deep_gemm::transpose"},

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
     "fft1d_c2r|offsetskernel|cudnn::cnn|cudnn-conv"},
    {{"implicit GEMM convolution", KernelClass::kConv,
      "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5"},
     kFull,
     "implicit_gemm|implicitgemm|fprop|dgrad|wgrad|_convolution_"},
    {{"vendor GEMM libraries", KernelClass::kGemm,
      "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1"},
     kBase,
     "cijk_|nvjet_|gemm|gemv|splitkreduce|splitk_reduce|cublas|wvspltk|wvsplitk|^bmm_|"
     "reduce_1block_kernel|dot_kernel|trsm_"},
    {{"matrix multiplication templates", KernelClass::kGemm,
      "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
     kBase,
     "matmul|fused_moe_kernel|marlin|tensile|scaled_mm|mul_mat|moe_vec_q|^moe_q$|flatmm|"
     "batched_triton_kernel|weight_only::kernel"},
    {{"fused experts of AITER", KernelClass::kGemm,
      "_ZN5aiter48fmoe_bf16_pertokenFp8_g1u1_vs_silu_1tg_ps_32x512E"},
     kBase,
     "fmoe_|mfma_moe"},
    {{"low-rank adapters", KernelClass::kGemm, "_lora_shrink_kernel"},
     kBase,
     "lora_shrink|lora_expand|lora_a_kernel|lora_b_kernel|moe_lora|bgmv_|sgmv_"},
    {{"fully connected layers of MTIA", KernelClass::kGemm, "fc-dtype_Float"}, kBase, "^fc-dtype"},
    {{"GEMM by template argument", KernelClass::kGemm,
      "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64>(int)"},
     kFull,
     "cutlass|ck_tile::gemm|flatmmkernel|cublaslt|cublasgemv|gemm::kernel"},

    // Order matters less from here on: the remaining kernels are named for what they do.
    {{"sort, scan and selection", KernelClass::kSort,
      "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int> >(int)"},
     kBase,
     "radixsort|radix_sort|mergesort|bitonic|sort|topk|top_k|devicescan|scan_|_scan|cumsum|"
     "devicecompact|deviceselect|partition_kernel|reducebykey|unique|histogram|searchsorted|"
     "sampling|mix_sample"},
    {{"reductions", KernelClass::kReduction,
      "void cub::DeviceReduceKernel<cub::DeviceReducePolicy<float> >(int)"},
     kBase,
     "reduce_kernel|reduction|devicereduce|reducekernel|argmax|argmin|nll_loss|_loss_|lpnorm|"
     "_reduce_fusion|^wrapped_reduce"},
    {{"copies and fills in kernels", KernelClass::kPointwise,
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, "
      "1>(int)"},
     kBase,
     "catarray|copy|fill|transpose|permute|concat|split|pad_|_pad|cast|convert|roll_|flip"},
    {{"activations and dropout", KernelClass::kPointwise,
      "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned "
      "int>(int)"},
     kBase,
     "dropout|gelu|silu|swiglu|relu|act_and_mul|activation|rotary|rope|bias_add|add_bias|"
     "geglu|softcap|mhc_post|mhc_pre_big"},
    {{"random numbers and ranges", KernelClass::kPointwise,
      "void at::native::(anonymous namespace)::distribution_kernel<float>(int)"},
     kBase,
     "distribution|random|philox|arange|triu|tril|upsample|interp|grid_sample|scal_kernel|"
     "compute_cuda_kernel|pointwise|hadamard|bitmask|packbits|cvt_|penalties|compute_position"},
    {{"fusions of XLA", KernelClass::kPointwise, "loop_add_fusion_3"}, kBase, "_fusion|^wrapped_"},
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

// One alternative of a row.
struct Pattern {
  std::string_view text;  // without '^' and '$'
  size_t rule;
  bool at_begin;
  bool at_end;
};

// All patterns for one kind of text, by their first three characters. However many there are, a
// text is walked once, and at nearly all of its places no pattern begins.
class PatternIndex {
 public:
  explicit PatternIndex(Text text) {
    std::vector<Pattern> patterns;
    for (size_t rule = 0; rule < kRuleCount; ++rule) {
      if (kRules[rule].text == text) {
        AddPatterns(rule, patterns);
      }
    }
    for (const Pattern& pattern : patterns) {
      ++begin_[BucketOf(pattern.text) + 1];
    }
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      begin_[bucket + 1] += begin_[bucket];
    }
    patterns_.resize(patterns.size());
    std::array<uint16_t, kBuckets + 1> next = begin_;
    for (const Pattern& pattern : patterns) {  // in the order of the rows
      patterns_[next[BucketOf(pattern.text)]++] = pattern;
    }
  }

  // The first row that matches; kRuleCount if none does.
  size_t FirstRule(std::string_view text) const {
    size_t first = kRuleCount;
    for (size_t at = 0; at + kLeastPattern <= text.size(); ++at) {
      const size_t bucket = BucketOf(text.substr(at));
      for (size_t i = begin_[bucket]; i < begin_[bucket + 1] && patterns_[i].rule < first; ++i) {
        const Pattern& pattern = patterns_[i];
        const bool is_here = text.compare(at, pattern.text.size(), pattern.text) == 0 &&
                             (!pattern.at_begin || at == 0) &&
                             (!pattern.at_end || at + pattern.text.size() == text.size());
        first = is_here ? pattern.rule : first;
      }
    }
    return first;
  }

 private:
  static constexpr size_t kLeastPattern = 3;
  static constexpr size_t kBuckets = 4096;

  // REQUIRES: three characters.
  static size_t BucketOf(std::string_view text) {
    constexpr size_t kBits = 4;
    const auto code = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(text[i])); };
    return (code(0) ^ (code(1) << kBits) ^ (code(2) << (2 * kBits))) % kBuckets;
  }

  static void AddPatterns(size_t rule, std::vector<Pattern>& patterns) {
    std::string_view rest = kRules[rule].patterns;
    while (!rest.empty()) {
      const size_t bar = std::min(rest.find('|'), rest.size());
      Pattern pattern{rest.substr(0, bar), rule, rest.starts_with('^'), rest[bar - 1] == '$'};
      pattern.text.remove_prefix(pattern.at_begin ? 1 : 0);
      pattern.text.remove_suffix(pattern.at_end ? 1 : 0);
      BS_CHECK(pattern.text.size() >= kLeastPattern);
      patterns.push_back(pattern);
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
  }

  std::vector<Pattern> patterns_;               // by bucket, then by row
  std::array<uint16_t, kBuckets + 1> begin_{};  // of each bucket in patterns_
};

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
  static const PatternIndex base_patterns(Text::kBase);
  static const PatternIndex full_patterns(Text::kFull);
  const size_t rule =
      std::min(base_patterns.FirstRule(BaseName(full)), full_patterns.FirstRule(full));
  return rule == kRuleCount ? KernelClass::kOther : kRules[rule].info.kind;
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

namespace {

struct CopyRule {
  std::string_view part;  // of the name
  CopyKind kind;
};

// The first part that is found decides. CUDA arrays ("A") are on the device; "M" is Intel's term
// for host memory.
constexpr CopyRule kCopyRules[] = {
    {"Memset", CopyKind::kMemset},
    {"FillBuffer", CopyKind::kMemset},
    {"HtoD", CopyKind::kHostToDevice},
    {"HtoA", CopyKind::kHostToDevice},
    {"H2D", CopyKind::kHostToDevice},
    {"M2D", CopyKind::kHostToDevice},
    {"HostToDevice", CopyKind::kHostToDevice},
    {"HOST_TO_DEVICE", CopyKind::kHostToDevice},
    {"DtoH", CopyKind::kDeviceToHost},
    {"AtoH", CopyKind::kDeviceToHost},
    {"D2H", CopyKind::kDeviceToHost},
    {"D2M", CopyKind::kDeviceToHost},
    {"DeviceToHost", CopyKind::kDeviceToHost},
    {"DEVICE_TO_HOST", CopyKind::kDeviceToHost},
    {"PtoP", CopyKind::kPeerToPeer},
    {"P2P", CopyKind::kPeerToPeer},
    {"PeerToPeer", CopyKind::kPeerToPeer},
    {"DtoD", CopyKind::kDeviceToDevice},
    {"DtoA", CopyKind::kDeviceToDevice},
    {"AtoD", CopyKind::kDeviceToDevice},
    {"AtoA", CopyKind::kDeviceToDevice},
    {"D2D", CopyKind::kDeviceToDevice},
    {"DeviceToDevice", CopyKind::kDeviceToDevice},
    {"DEVICE_TO_DEVICE", CopyKind::kDeviceToDevice},
    {"HtoH", CopyKind::kHostToHost},
    {"H2H", CopyKind::kHostToHost},
    {"M2M", CopyKind::kHostToHost},
    {"HostToHost", CopyKind::kHostToHost},
    {"HOST_TO_HOST", CopyKind::kHostToHost},
};

}  // namespace

std::string_view CopyKindName(CopyKind kind) {
  constexpr std::string_view kNames[] = {"HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "memset", "other"};
  static_assert(std::size(kNames) == static_cast<size_t>(CopyKind::kCount));
  return kNames[static_cast<size_t>(kind)];
}

CopyKind ClassifyCopy(DeviceKind kind, std::string_view name) {
  if (kind == DeviceKind::kMemset) {
    return CopyKind::kMemset;
  }
  const auto* rule = std::find_if(
      std::begin(kCopyRules), std::end(kCopyRules),
      [name](const CopyRule& r) { return name.find(r.part) != std::string_view::npos; });
  return rule == std::end(kCopyRules) ? CopyKind::kOther : rule->kind;
}

}  // namespace borescope::internal
