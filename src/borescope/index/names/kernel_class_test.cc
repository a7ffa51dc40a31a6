#include "borescope/index/names/kernel_class.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>
#include <string>

namespace borescope::internal {

namespace {

TEST(KernelClassTest, EveryRuleMatchesItsExample) {
  for (const KernelRule& rule : KernelRules()) {
    EXPECT_EQ(KernelClassName(ClassifyKernel(rule.example)), KernelClassName(rule.kind))
        << rule.family << ": " << rule.example;
  }
}

TEST(KernelClassTest, FamiliesAreNamedOnce) {
  std::set<std::string_view> families;
  for (const KernelRule& rule : KernelRules()) {
    EXPECT_TRUE(families.insert(rule.family).second) << rule.family;
  }
}

// Names as they were recorded: a line is a class, a tab and a name.
TEST(KernelClassTest, NamesOfLibrariesHaveTheirClass) {
  std::ifstream file(BORESCOPE_KERNEL_NAMES);
  size_t names = 0;
  for (std::string line; std::getline(file, line);) {
    if (const size_t tab = line.find('\t'); tab != std::string::npos && !line.starts_with('#')) {
      const std::string name = line.substr(tab + 1);
      EXPECT_EQ(KernelClassName(ClassifyKernel(name)), line.substr(0, tab)) << name;
      ++names;
    }
  }
  EXPECT_GE(names, 400U);
}

bool MatchesPattern(std::string_view text, std::string_view pattern) {
  const bool at_begin = pattern.starts_with('^');
  const bool at_end = pattern.ends_with('$');
  pattern.remove_prefix(at_begin ? 1 : 0);
  pattern.remove_suffix(at_end ? 1 : 0);
  return at_begin && at_end ? text == pattern
         : at_begin         ? text.starts_with(pattern)
         : at_end           ? text.ends_with(pattern)
                            : text.find(pattern) != std::string_view::npos;
}

// Row by row and pattern by pattern. Of a name without brackets, which is its own base.
KernelClass SlowClassOf(std::string_view name) {
  const std::vector<std::string_view> rows = KernelPatterns();
  for (size_t row = 0; row < rows.size(); ++row) {
    std::string_view rest = rows[row];
    while (!rest.empty()) {
      const std::string_view pattern = rest.substr(0, rest.find('|'));
      if (MatchesPattern(name, pattern)) {
        return KernelRules()[row].kind;
      }
      rest.remove_prefix(std::min(pattern.size() + 1, rest.size()));
    }
  }
  return KernelClass::kOther;
}

TEST(KernelClassTest, IsThatOfTheSlowTwin) {
  std::vector<std::string> pieces{"", "_", "k", "::", "kernel_", "x1", " "};
  for (const std::string_view row : KernelPatterns()) {
    for (size_t at = 0; at < row.size();) {
      const std::string_view pattern = row.substr(at, row.find('|', at) - at);
      pieces.emplace_back(pattern.substr(pattern.starts_with('^') ? 1 : 0));
      if (pieces.back().ends_with('$')) {
        pieces.back().pop_back();
      }
      pieces.emplace_back(pieces.back().substr(0, pieces.back().size() - 1));  // almost
      at += pattern.size() + 1;
    }
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (uint64_t count = 1 + random() % 4; count > 0; --count) {
      name += pieces[random() % pieces.size()];
    }
    if (name.find("::::") == std::string::npos) {  // which base names shorten
      ASSERT_EQ(KernelClassName(ClassifyKernel(name)), KernelClassName(SlowClassOf(name))) << name;
    }
  }
}

struct Case {
  std::string_view name;
  KernelClass kind;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class KernelNameTest : public testing::TestWithParam<Case> {};

TEST_P(KernelNameTest, IsClassified) {
  EXPECT_EQ(KernelClassName(ClassifyKernel(GetParam().name)), KernelClassName(GetParam().kind));
}

constexpr Case kCollectives[] = {
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
     KernelClass::kCollective},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", KernelClass::kCollective},
    {"nccl:all_reduce", KernelClass::kCollective},
    {"mscclpp::allreduce7<float>(float*)", KernelClass::kCollective},
    {"void vllm::cross_device_reduce_2stage<c10::Half, 4>(vllm::RankData*)",
     KernelClass::kCollective},
    {"void aiter::cross_device_reduce_1stage<c10::BFloat16, 8>(aiter::RankData*)",
     KernelClass::kCollective},
    {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(void*)",
     KernelClass::kCollective},
    {"all_reduce_one_shot_push_bf16", KernelClass::kCollective},
    {"void one_shot_all_reduce_kernel<c10::BFloat16>(void*)", KernelClass::kCollective},
    {"void quickreduce::allreduce_prototype_twoshot<int>(int)", KernelClass::kCollective},
    {"nvshmemi_put_signal", KernelClass::kCollective},
    {"hccl::allgather", KernelClass::kCollective},
    {"collective_subgraph_execution_3", KernelClass::kCollective},
};
INSTANTIATE_TEST_SUITE_P(Collectives, KernelNameTest, testing::ValuesIn(kCollectives));

// Names that only look like communication or copies.
constexpr Case kFalseFriends[] = {
    {"SyncBatchNorm_k", KernelClass::kNorm},
    {"void at::native::batch_norm_backward_reduce_kernel<float, float>(int)", KernelClass::kNorm},
    {"triton_poi_fused_add_all_reduce_wait_tensor_3", KernelClass::kPointwise},
    {"hipCustomThing", KernelClass::kOther},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(int)",
     KernelClass::kReduction},
    {"void "
     "split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<float>(x)",
     KernelClass::kEmbedding},
    {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)",
     KernelClass::kPointwise},
    {"triton_per_fused__softmax_4", KernelClass::kReduction},
    {"at::cuda::(anonymous namespace)::spin_kernel(long)", KernelClass::kOther},
    {"", KernelClass::kOther},
};
INSTANTIATE_TEST_SUITE_P(FalseFriends, KernelNameTest, testing::ValuesIn(kFalseFriends));

constexpr Case kCompute[] = {
    {"ampere_sgemm_32x32_sliced1x4_tn", KernelClass::kGemm},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute",
     KernelClass::kGemm},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_TNN", KernelClass::kGemm},
    {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x", KernelClass::kGemm},
    {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(x)",
     KernelClass::kGemm},
    {"void splitKreduce_kernel<32, 16, int, float, float>(cublasSplitKParams<float>)",
     KernelClass::kGemm},
    {"void epilogue::impl::globalKernel<float>(int, cublasLtEpilogue_t, int)", KernelClass::kGemm},
    {"void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128>(x)",
     KernelClass::kConv},
    {"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)", KernelClass::kConv},
    {"void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int)", KernelClass::kConv},
    {"miopenSp3AsmConv_v21_1_3_gfx9_fp32_f3x2_stride1", KernelClass::kConv},
    {"MIOpenBatchNormFwdTrainSpatial", KernelClass::kNorm},
    {"attn_fwd", KernelClass::kAttention},
    {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<x>::Params)",
     KernelClass::kAttention},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
     KernelClass::kNorm},
    {"void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, true>(float*)",
     KernelClass::kSoftmax},
    {"void at_cuda_detail::cub::DeviceScanKernel<x>(y)", KernelClass::kSort},
    {"void cudnn::ops::nhwcToNchwKernel<float, float, float, true, false>(int)",
     KernelClass::kPointwise},
    {"void fbgemm_gpu::permute_2D_data_kernel<false, int, int>(int)", KernelClass::kEmbedding},
    {"void moe::dev::routing::routingRenormalize::routingIndicesHistogramScoresKernel<int>(int)",
     KernelClass::kSort},
    {"_combined_routing_compute", KernelClass::kSort},
    {"_sum_bitmatrix_rows", KernelClass::kSort},
    {"void cask_cudnn::computeOffsetsKernel<true, false>(int)", KernelClass::kConv},
    {"void at::native::(anonymous namespace)::cuComputePartGradGammaBeta<float, float, true>(int)",
     KernelClass::kNorm},
    {"void at::native::(anonymous namespace)::ComputeBackwardFusedParamsCUDAKernel<float>(long)",
     KernelClass::kNorm},
    {"void at::native::(anonymous namespace)::ComputeInternalGradientsCUDAKernel<float>(long)",
     KernelClass::kNorm},
    {"<unnamed>::nvfuser_outer_persistent_f0_c1_r0_g0(<unnamed>::Tensor<float, (int)2, (int)2>)",
     KernelClass::kReduction},
    {"<unnamed>::nvfuser_pointwise_f0_c1_r0_g0(<unnamed>::Tensor<float, (int)2, (int)2>)",
     KernelClass::kPointwise},
};
INSTANTIATE_TEST_SUITE_P(Compute, KernelNameTest, testing::ValuesIn(kCompute));

TEST(ActivityTest, CopiesByKindAndByBlitKernel) {
  EXPECT_EQ(ActivityOf(DeviceKind::kMemcpy, KernelClass::kOther), Activity::kCopy);
  EXPECT_EQ(ActivityOf(DeviceKind::kMemset, KernelClass::kOther), Activity::kCopy);
  EXPECT_EQ(ActivityOf(DeviceKind::kKernel, KernelClass::kCopy), Activity::kCopy);
  EXPECT_EQ(ActivityOf(DeviceKind::kKernel, KernelClass::kCollective), Activity::kCommunication);
  EXPECT_EQ(ActivityOf(DeviceKind::kKernel, KernelClass::kOther), Activity::kCompute);
}

std::string_view KindOf(std::string_view name) {
  return CopyKindName(ClassifyCopy(DeviceKind::kMemcpy, name));
}

TEST(CopyKindTest, NamesOfAllVendors) {
  EXPECT_EQ(KindOf("Memcpy HtoD (Pageable -> Device)"), "HtoD");
  EXPECT_EQ(KindOf("Memcpy DtoH (Device -> Pinned)"), "DtoH");
  EXPECT_EQ(KindOf("Memcpy DtoD (Device -> Device)"), "DtoD");
  EXPECT_EQ(KindOf("Memcpy PtoP (Device -> Device)"), "PtoP");
  EXPECT_EQ(KindOf("Memcpy HtoH (Pinned -> Pageable)"), "HtoH");
  EXPECT_EQ(KindOf("Memcpy HtoA (Pinned -> Array)"), "HtoD");
  EXPECT_EQ(KindOf("CopyHostToDevice"), "HtoD");
  EXPECT_EQ(KindOf("CopyDeviceToHost"), "DtoH");
  EXPECT_EQ(KindOf("CopyDeviceToDevice"), "DtoD");
  EXPECT_EQ(KindOf("MEMORY_COPY_HOST_TO_DEVICE"), "HtoD");
  EXPECT_EQ(KindOf("MEMORY_COPY_DEVICE_TO_DEVICE"), "DtoD");
  EXPECT_EQ(KindOf("FillBuffer"), "memset");
  EXPECT_EQ(KindOf("Memcpy M2D"), "HtoD");
  EXPECT_EQ(KindOf("Memcpy D2H"), "DtoH");
  EXPECT_EQ(KindOf("Memcpy (Unknown)"), "other");
  EXPECT_EQ(KindOf(""), "other");
}

TEST(CopyKindTest, AMemsetIsOneWhateverItsName) {
  EXPECT_EQ(CopyKindName(ClassifyCopy(DeviceKind::kMemset, "Memset (Device)")), "memset");
  EXPECT_EQ(CopyKindName(ClassifyCopy(DeviceKind::kMemset, "HtoD")), "memset");
}

}  // namespace

}  // namespace borescope::internal
