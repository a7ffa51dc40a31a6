// The names of device events, as the vendors' profilers write them.
#include <cstddef>
#include <iterator>

#include "tests/support/model/scenario_catalog.h"

namespace borescope::scenario {
namespace {

using K = Kernel;

struct Row {
  Kernel id;
  const char* cuda;
  const char* hip;  // nullptr: PyTorch's own kernels are called the same on both
};

// Tensile encodes its whole configuration in the name; the tail is the same for all of ours.
constexpr std::string_view kTensileTail =
    "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_ASEM1_CLR1_CADS0_EPS0_GRVWA8_GRVWB8_GSUAMB_ISA942_IU1_K1_"
    "LBSPPA512_LBSPPB512_LPA16_LPB16_LRVW8_MIAV0_MO40_NTD4_PGR2_PLR1_SIA3_SS1_SVW4_TLDS1_VWA4_"
    "WSGRA0_WS64_WG32_8_1";

// In the order of `Kernel`.
constexpr Row kRows[] = {
    {K::kGemmForward,
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
     "segment_k_off_kernel__5x_cublas",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64"},
    {K::kGemmWide, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_bias_TNN",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT192x128x64"},
    {K::kGemmDgrad, "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn",
     "Cijk_Ailk_Bljk_BBS_BH_HA_S_SAV_UserArgs_MT128x256x32"},
    {K::kGemmWgrad,
     "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nt_align8>"
     "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nt_align8::Params)",
     "Cijk_Ailk_Bjlk_BBS_BH_HA_S_SAV_UserArgs_MT256x128x32"},
    {K::kFlashForward,
     "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, "
     "true, false, false, false, true, false, false>(flash::Flash_fwd_params)",
     "attn_fwd"},
    {K::kFlashBackwardDot,
     "void flash::flash_bwd_dot_do_o_kernel<true, "
     "Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t, "
     "Flash_kernel_traits<64, 128, 128, 8, cutlass::bfloat16_t> > >(flash::Flash_bwd_params)",
     "bwd_preprocess"},
    {K::kFlashBackward,
     "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"
     "Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t, "
     "Flash_kernel_traits<64, 128, 128, 8, cutlass::bfloat16_t> >, false, true, false, "
     "false, true, true, false>(flash::Flash_bwd_params)",
     "bwd_kernel_dk_dv"},
    {K::kLayerNorm,
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
     "false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, "
     "float*, float*, c10::BFloat16*)",
     nullptr},
    {K::kLayerNormBackward,
     "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<"
     "c10::BFloat16, float, false>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, "
     "float const*, c10::BFloat16 const*, c10::BFloat16*, int)",
     nullptr},
    {K::kLayerNormGamma,
     "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<c10::BFloat16, float, "
     "false>(long, long, c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, "
     "c10::BFloat16*, c10::BFloat16*)",
     nullptr},
    {K::kGelu,
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl("
     "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::"
     "{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)",
     nullptr},
    {K::kGeluBackward,
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluBackwardCUDAKernelImpl("
     "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::"
     "{lambda()#4}::operator()() const::{lambda(c10::BFloat16, c10::BFloat16)#1}, "
     "std::array<char*, 3ul> >(int)",
     nullptr},
    {K::kAdd,
     "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<"
     "c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
     "std::array<char*, 3ul>)",
     nullptr},
    {K::kDiv,
     "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
     "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int)",
     nullptr},
    {K::kAccumulate,
     "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
     "at::native::CUDAFunctorOnSelf_add<c10::BFloat16> >(at::TensorIteratorBase&, "
     "at::native::CUDAFunctorOnSelf_add<c10::BFloat16> const&)::{lambda(int)#1}>(int)",
     nullptr},
    {K::kEmbedding,
     "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned "
     "int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, long)",
     nullptr},
    {K::kEmbeddingBackward,
     "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, "
     "float, long>(long const*, c10::BFloat16 const*, c10::BFloat16*, int, long, int)",
     nullptr},
    {K::kLogSoftmax,
     "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
     "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)",
     nullptr},
    {K::kLogSoftmaxBackward,
     "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, "
     "at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(float*, float const*, "
     "float const*, long)",
     nullptr},
    {K::kNll,
     "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, "
     "float, long>(float*, float*, float const*, long const*, float const*, bool, long, long)",
     nullptr},
    {K::kNllBackward,
     "void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<float, "
     "long>(float*, float const*, long const*, float const*, float const*, bool, int, long)",
     nullptr},
    {K::kSum,
     "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
     "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, "
     "c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
     "c10::BFloat16, 4, 4> >(at::native::ReduceOp)",
     nullptr},
    {K::kNorm,
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps<"
     "float, float, float>, unsigned int, float, 4, 4> >(at::native::ReduceOp)",
     nullptr},
    {K::kAdam,
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
     "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, "
     "double, double, double, double, bool, float const*, float const*>(at::native::TensorList)",
     nullptr},
    {K::kAllReduce, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"},
    {K::kMemset, "Memset (Device)", "__amd_rocclr_fillBufferAligned"},
    {K::kMemcpyHtoD, "Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Host -> Device)"},
    {K::kMemcpyDtoH, "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoH (Device -> Host)"},
    {K::kMemcpyDtoD, "Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)"},
};

constexpr bool RowsMatchEnum() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<size_t>(kRows[i].id) != i) return false;
  }
  return std::size(kRows) == static_cast<size_t>(Kernel::kCount);
}
static_assert(RowsMatchEnum(), "the rows must stand in the order of Kernel");

}  // namespace

std::string KernelName(Vendor vendor, Kernel kernel) {
  const Row& row = kRows[static_cast<size_t>(kernel)];
  if (vendor == Vendor::kNvidia || row.hip == nullptr) return row.cuda;
  std::string name = row.hip;
  if (name.starts_with("Cijk_")) name += kTensileTail;
  return name;
}

}  // namespace borescope::scenario
