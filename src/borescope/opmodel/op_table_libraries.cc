// Operators of libraries on top of PyTorch, and kernels that TorchInductor generated. Argument
// positions are those of the schemas that the libraries register: vLLM (csrc/torch_bindings.cpp,
// csrc/moe/torch_bindings.cpp, csrc/rocm/torch_bindings.cpp, and in Python
// model_executor/layers/fused_moe/fused_moe.py, _aiter_ops.py), sgl-kernel
// (csrc/common_extension.cc), AITER (aiter/ops/*.py, aiter/fused_moe.py), FBGEMM, bitsandbytes,
// xFormers, FlashAttention, Transformer Engine 1, causal-conv1d; of symm_mem PyTorch's
// (torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.cpp).
#include "borescope/opmodel/families.h"
#include "borescope/opmodel/op_rows.h"

namespace borescope::internal::opmodel {
namespace {

constexpr auto kGemm = OpFamily::kGemm;
constexpr auto kAttend = OpFamily::kAttention;
constexpr auto kPoint = OpFamily::kPointwise;
constexpr auto kNorm = OpFamily::kNormalization;
constexpr auto kQuant = OpFamily::kQuantization;
constexpr auto kIndex = OpFamily::kIndexing;
constexpr auto kComm = OpFamily::kCollective;

// Numbers of types, as c10/core/ScalarType.h has them.
constexpr uint8_t kInt32Number = 3;
constexpr uint8_t kBFloat16Number = 15;

constexpr OpModel kModels[] = {
    Row("flash_attn::_flash_attn_forward", kAttend, AttentionForward, kFlashAttn),
    Row("flash_attn::_flash_attn_varlen_forward", kAttend, AttentionForward, kFlashAttnVarlen),
    Backward(
        Row("flash_attn::_flash_attn_backward", kAttend, AttentionBackward, kFlashAttnBackward)),
    Backward(Row("flash_attn::_flash_attn_varlen_backward", kAttend, AttentionBackward,
                 kFlashAttnVarlenBackward)),
    Row("flash_attn_3::fwd", kAttend, AttentionForward, kFlashAttn3),
    Backward(Row("flash_attn_3::bwd", kAttend, AttentionBackward, kFlashAttn3Backward)),
    Row("xformers_flash::flash_fwd", kAttend, AttentionForward, kXformersFlash),
    Row("xformers::efficient_attention_forward_cutlass", kAttend, AttentionForward, kEfficient),

    Row("_C::cutlass_scaled_mm", kGemm, ProductInto),
    Row("tex_ts::te_gemm_ts", kGemm, TransformerEngineProduct),
    Row("_C::awq_gemm", kGemm, PackedProduct, 2),
    Row("_C::gptq_gemm", kGemm, PackedProduct, 1),
    With(Row("_C::silu_and_mul", OpFamily::kPointwise, GatedHalf, 1), 4, 1),
    With(Row("_C::gelu_and_mul", OpFamily::kPointwise, GatedHalf, 1), 8, 1),
    With(Row("_C::gelu_tanh_and_mul", OpFamily::kPointwise, GatedHalf, 1), 8, 1),
    With(Row("_C::mul_and_silu", kPoint, GatedHalf, 1), 4, 1),
    With(Row("_C::fatrelu_and_mul", kPoint, GatedHalf, 1), 2),
    With(Row("_C::gelu_new", kPoint, Streams, kResultAndInput), 7, 1),
    With(Row("_C::gelu_fast", kPoint, Streams, kResultAndInput), 7, 1),
    With(Row("_C::gelu_quick", kPoint, Streams, kResultAndInput), 4, 1),
    Row("DaoAILab::_causal_conv1d_fwd_cpp", kPoint, CausalConvolution),
    With(Row("_C::rotary_embedding", kPoint, RotaryEmbedding), 3),
    With(Row("_C::rms_norm", kNorm, RmsNormInto, kRmsNorm), 4),
    With(Row("_C::fused_add_rms_norm", kNorm, RmsNormInto, kAddRmsNorm), 5),
    With(Row("_C::rms_norm_static_fp8_quant", kNorm, Streams, kNormScale), 5),
    With(Row("_C::fused_add_rms_norm_static_fp8_quant", kNorm, Streams, kAddNormScale), 6),
    With(Row("_C::rms_norm_dynamic_per_token_quant", kNorm, Streams, kNormNewScale), 6),
    With(Row("_C::rms_norm_per_block_quant", kNorm, Streams, kNormNewScale), 6),
    With(Row("_C::silu_and_mul_quant", kQuant, Streams, kHalfInputScale), 5, 1),
    With(Row("_C::silu_and_mul_per_block_quant", kQuant, Streams, kHalfInputNewScale), 6, 1),
    With(Row("_C::static_scaled_fp8_quant", kQuant, Streams, kResultInputScale), 1),
    With(Row("_C::static_scaled_int8_quant", kQuant, Streams, kResultInputScale), 2),
    With(Row("_C::dynamic_scaled_fp8_quant", kQuant, Streams, kResultInputNewScale), 2),
    With(Row("_C::dynamic_per_token_scaled_fp8_quant", kQuant, Streams, kResultInputNewScale), 2),
    With(Row("_C::dynamic_scaled_int8_quant", kQuant, Streams, kResultInputNewScale), 3),
    With(Row("_C::per_token_group_fp8_quant", kQuant, Streams, kInputResultNewScale), 2),
    Row("_C::paged_attention_v1", kAttend, DependsOnData),
    Row("_C::paged_attention_v2", kAttend, DependsOnData),
    Row("vllm::unified_attention", kAttend, DependsOnData),
    Row("vllm::unified_attention_with_output", kAttend, DependsOnData),
    Row("_C_cache_ops::reshape_and_cache", kIndex, CacheWrite, 2),
    Row("_C_cache_ops::reshape_and_cache_flash", kIndex, CacheWrite, 2),
    Row("_C_cache_ops::concat_and_cache_mla", kIndex, CacheWrite, 1),
    With(Row("_moe_C::topk_softmax", OpFamily::kSoftmax, Streams, kExpertsOfTokens), 5, 1),
    With(Row("_moe_C::moe_sum", OpFamily::kReduction, Streams, kInputAndResult), 1),
    Row("_moe_C::moe_align_block_size", kIndex, Streams, kBlocksOfExperts),

    Row("vllm::rocm_unquantized_gemm", kGemm, LinearLayer),
    Row("_rocm_C::wvSplitK", kGemm, LinearLayer),
    Row("_rocm_C::wvSplitKrc", kGemm, LinearLayer),
    Row("_rocm_C::LLMM1", kGemm, LinearLayer),
    Row("_C::cutlass_scaled_mm_azp", kGemm, ProductInto),
    Row("_C::dsv3_fused_a_gemm", kGemm, ProductInto),
    Row("_C::cutlass_moe_mm", kGemm, ExpertsProductInto),
    Row("vllm::inplace_fused_experts", kGemm, FusedExperts),
    Row("vllm::outplace_fused_experts", kGemm, FusedExperts),
    Row("vllm::rocm_aiter_fused_moe", kGemm, FusedExperts),
    Row("vllm::moe_forward", kGemm, DependsOnData),
    Row("vllm::moe_forward_shared", kGemm, DependsOnData),
    Row("vllm::unified_mla_attention", kAttend, DependsOnData),
    Row("vllm::unified_mla_attention_with_output", kAttend, DependsOnData),
    Row("_rocm_C::paged_attention", kAttend, DependsOnData),
    Row("_C::sm100_cutlass_mla_decode", kAttend, DependsOnData),
    With(Row("_C::merge_attn_states", kAttend, Streams, kMergeInto), 3),
    With(Row("_C::swigluoai_and_mul", kPoint, GatedHalf, 1), 9, 1),
    With(Row("_C::scaled_fp4_quant", kQuant, Streams, kResultInputNewScale), 2),
    With(Row("vllm::rocm_aiter_rms_norm", kNorm, Streams, kNormToNew), 4),
    With(Row("vllm::rocm_aiter_rmsnorm2d_fwd_with_add", kNorm, Streams, kAddNormToNew), 5),
    Row("vllm::all_reduce", kComm, Collective, kInPlaceTensor),
    Row("_C_custom_ar::all_reduce", kComm, Collective, kBehindHandle),

    Row("sgl_kernel::fp8_scaled_mm", kGemm, ScaledProductOfType),
    Row("sgl_kernel::int8_scaled_mm", kGemm, ScaledProductOfType),
    Row("sgl_kernel::fp8_blockwise_scaled_mm", kGemm, ScaledProductOfType),
    Row("sgl_kernel::dsv3_fused_a_gemm", kGemm, ProductInto),
    Row("sgl_kernel::gptq_gemm", kGemm, PackedProduct, 1),
    Row("sglang::inplace_fused_experts", kGemm, FusedExperts),
    Row("sglang::outplace_fused_experts", kGemm, FusedExperts),
    Row("sgl_kernel::cutlass_mla_decode", kAttend, DependsOnData),
    With(Row("sgl_kernel::merge_state", kAttend, Streams, kMergeOf), 3),
    With(Row("sgl_kernel::merge_state_v2", kAttend, Streams, kMergeOf), 3),
    With(Row("sgl_kernel::silu_and_mul", kPoint, GatedHalf, 1), 4, 1),
    With(Row("sgl_kernel::gelu_and_mul", kPoint, GatedHalf, 1), 8, 1),
    With(Row("sgl_kernel::gelu_tanh_and_mul", kPoint, GatedHalf, 1), 8, 1),
    With(Row("sgl_kernel::rmsnorm", kNorm, RmsNormInto, kRmsNorm), 4),
    With(Row("sgl_kernel::fused_add_rmsnorm", kNorm, RmsNormInto, kAddRmsNorm), 5),
    With(Row("sgl_kernel::gemma_rmsnorm", kNorm, RmsNormInto, kRmsNorm), 5),
    With(Row("sgl_kernel::gemma_fused_add_rmsnorm", kNorm, RmsNormInto, kAddRmsNorm), 6),
    With(Row("sgl_kernel::sgl_per_token_group_quant_fp8", kQuant, Streams, kInputResultNewScale),
         2),
    With(Row("sgl_kernel::sgl_per_token_group_quant_int8", kQuant, Streams, kInputResultNewScale),
         3),
    With(Row("sgl_kernel::sgl_per_token_quant_fp8", kQuant, Streams, kInputResultNewScale), 2),
    With(Row("sgl_kernel::scaled_fp4_quant", kQuant, Streams, kResultInputNewScale), 2),
    With(Row("sgl_kernel::topk_softmax", OpFamily::kSoftmax, Streams, kExpertsWithoutRows), 5, 1),
    Row("sgl_kernel::all_reduce", kComm, Collective, kBehindHandle),

    Row("aiter::fused_moe_", kGemm, FusedExperts),
    Row("aiter::gemm_a8w8_ck", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_bpreshuffle_ck", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_bpreshuffle_cktile", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_blockscale_ck", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_blockscale_cktile", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_blockscale_bpreshuffle_ck", kGemm, ProductOfRowsInto, 4),
    Row("aiter::gemm_a8w8_blockscale_bpreshuffle_cktile", kGemm, ProductOfRowsInto, 4),
    With(Row("aiter::silu_and_mul", kPoint, GatedHalf, 1), 4, 1),
    With(Row("aiter::gelu_and_mul", kPoint, GatedHalf, 1), 8, 1),
    With(Row("aiter::gelu_tanh_and_mul", kPoint, GatedHalf, 1), 8, 1),
    With(Row("aiter::rms_norm", kNorm, Streams, kNormToNew), 4),
    With(Row("aiter::rmsnorm2d_fwd", kNorm, Streams, kNormToNew), 4),
    With(Row("aiter::rms_norm_cu", kNorm, RmsNormInto, kRmsNorm), 4),
    With(Row("aiter::fused_add_rms_norm_cu", kNorm, RmsNormInto, kAddRmsNorm), 5),
    With(Row("aiter::rmsnorm2d_fwd_with_add", kNorm, Streams, kAddNormInto), 5),
    With(Row("aiter::rmsnorm2d_fwd_with_add_ck", kNorm, Streams, kAddNormInto), 5),
    With(Row("aiter::rmsnorm2d_fwd_with_dynamicquant", kNorm, Streams, kNormScaleWeight), 6),
    With(Row("aiter::rmsnorm2d_fwd_with_add_dynamicquant", kNorm, Streams, kAddNormIntoScale), 7),

    Row("fbgemm::f8f8bf16", kGemm, QuantizedLinear, kBFloat16Number),
    Row("fbgemm::f8f8bf16_tensorwise", kGemm, QuantizedLinear, kBFloat16Number),
    Row("fbgemm::f8f8bf16_rowwise", kGemm, QuantizedLinear, kBFloat16Number),
    Row("fbgemm::f8f8bf16_rowwise_batched", kGemm, QuantizedLinear, kBFloat16Number),
    Row("fbgemm::f8f8bf16_blockwise", kGemm, QuantizedLinear, kBFloat16Number),
    Row("fbgemm::i8i8bf16", kGemm, QuantizedLinear, kBFloat16Number),
    Row("fbgemm::i8i8bf16_dynamic", kGemm, QuantizedLinear, kBFloat16Number),
    Row("bitsandbytes::int8_linear_matmul", kGemm, QuantizedLinear, kInt32Number),
    With(Row("fbgemm::quantize_fp8_per_tensor", kQuant, QuantizeToFloat8, kScalePerTensor), 2),
    With(Row("fbgemm::quantize_fp8_per_row", kQuant, QuantizeToFloat8, kScalePerRow), 2),
    Row("fbgemm::split_embedding_codegen_forward_unweighted_cuda", kIndex, BatchedTables),
    Row("fbgemm::split_embedding_codegen_forward_weighted_cuda", kIndex, BatchedTables),

    Row("triton_poi_", OpFamily::kGenerated, GeneratedKernel),
    Row("triton_red_", OpFamily::kGenerated, GeneratedKernel),
    Row("triton_per_", OpFamily::kGenerated, GeneratedKernel),
    Row("triton_for_", OpFamily::kGenerated, GeneratedKernel),

    Row("c10d::allreduce_", kComm, Collective, kInPlaceList),
    Row("c10d::broadcast_", kComm, Collective, kInPlaceList),
    Row("c10d::_allgather_base_", kComm, Collective, kOutputFirst),
    Row("c10d::_reduce_scatter_base_", kComm, Collective, kOutputFirst),
    Row("c10d::alltoall_base_", kComm, Collective, kOutputFirst),
    Row("nccl:all_reduce", kComm, Collective, kInPlaceTensor),
    Row("record_param_comms", kComm, Collective, kRecordedSizes),
    Row("symm_mem::multimem_all_reduce_", kComm, Collective, kInPlaceTensor),
    Row("symm_mem::two_shot_all_reduce_", kComm, Collective, kInPlaceTensor),
    Row("symm_mem::one_shot_all_reduce", kComm, Collective, kInPlaceTensor),
    Row("symm_mem::multimem_one_shot_all_reduce", kComm, Collective, kInPlaceTensor),
    Row("symm_mem::one_shot_all_reduce_out", kComm, Collective, kOutputLast),
    Row("symm_mem::two_shot_all_reduce_out", kComm, Collective, kOutputLast),
    Row("symm_mem::multimem_one_shot_all_reduce_out", kComm, Collective, kOutputLast),
    Row("symm_mem::multimem_all_gather_out", kComm, Collective, kOutputLast),
    Row("symm_mem::reduce_scatter_out", kComm, Collective, kOutputLast),
};

}  // namespace

std::span<const OpModel> LibraryOpModels() { return kModels; }

}  // namespace borescope::internal::opmodel
