// Host side of the catalog: ops, annotations, Python frames and runtime calls.
#include <array>
#include <cstddef>

#include "tests/support/model/scenario_catalog.h"

namespace borescope::scenario {
namespace {

using N = HostName;
constexpr HostKind kOp = HostKind::kOp;
constexpr HostKind kNote = HostKind::kAnnotation;
constexpr HostKind kPy = HostKind::kPython;

// Activations are [4096, 1024] bfloat16: four sequences of 1024 tokens, 16 heads of 64.
constexpr const char* kAct = "[[4096, 1024]]";
constexpr const char* kActStrides = "[[1024, 1]]";
constexpr const char* kBf16 = R"(["c10::BFloat16"])";
constexpr const char* kTwo = "[[4096, 1024], [4096, 1024]]";
constexpr const char* kTwoStrides = "[[1024, 1], [1024, 1]]";
constexpr const char* kTwoBf16 = R"(["c10::BFloat16", "c10::BFloat16"])";
constexpr const char* kHeads = "[[4, 16, 1024, 64], [4, 16, 1024, 64], [4, 16, 1024, 64]]";
constexpr const char* kHeadStrides =
    "[[1048576, 64, 1024, 1], [1048576, 64, 1024, 1], [1048576, 64, 1024, 1]]";
constexpr const char* kThreeBf16 = R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])";
constexpr const char* kThreeEmpty = R"(["", "", ""])";

constexpr HostNameInfo kOpNames[] = {
    {N::kTo, kOp, "aten::to", "[[4, 1024], [], [], [], [], []]",
     R"(["long int", "Scalar", "", "Scalar", "Scalar", ""])", "[[1024, 1], [], [], [], [], []]",
     R"(["", "4", "", "True", "False", ""])"},
    {N::kToCopy, kOp, "aten::_to_copy", "[[4, 1024], []]", R"(["long int", "Scalar"])",
     "[[1024, 1], []]", R"(["", "4"])"},
    {N::kEmptyStrided, kOp, "aten::empty_strided", "[[], []]", R"(["ScalarList", "ScalarList"])",
     "[[], []]", R"(["[4, 1024]", "[1024, 1]"])"},
    {N::kCopy, kOp, "aten::copy_", "[[4, 1024], [4, 1024], []]",
     R"(["long int", "long int", "Scalar"])", "[[1024, 1], [1024, 1], []]", R"(["", "", "True"])"},
    {N::kEmpty, kOp, "aten::empty", "[[], []]", R"(["ScalarList", "Scalar"])", "[[], []]",
     R"(["[4096, 1024]", "15"])"},
    {N::kZero, kOp, "aten::zero_", kAct, kBf16, kActStrides, R"([""])"},
    {N::kEmbedding, kOp, "aten::embedding", "[[32000, 1024], [4, 1024], [], [], []]",
     R"(["c10::BFloat16", "long int", "Scalar", "Scalar", "Scalar"])",
     "[[1024, 1], [1024, 1], [], [], []]", R"(["", "", "-1", "False", "False"])"},
    {N::kIndexSelect, kOp, "aten::index_select", "[[32000, 1024], [], [4096]]",
     R"(["c10::BFloat16", "Scalar", "long int"])", "[[1024, 1], [], [1]]", R"(["", "0", ""])"},
    {N::kLayerNorm, kOp, "aten::layer_norm", "[[4096, 1024], [], [1024], [1024], [], []]",
     R"(["c10::BFloat16", "ScalarList", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
     "[[1024, 1], [], [1], [1], [], []]", R"(["", "[1024]", "", "", "1e-05", "True"])"},
    {N::kNativeLayerNorm, kOp, "aten::native_layer_norm", "[[4096, 1024], [], [1024], [1024], []]",
     R"(["c10::BFloat16", "ScalarList", "c10::BFloat16", "c10::BFloat16", "Scalar"])",
     "[[1024, 1], [], [1], [1], []]", R"(["", "[1024]", "", "", "1e-05"])"},
    {N::kLinear, kOp, "aten::linear", "[[4096, 1024], [1024, 1024], [1024]]", kThreeBf16,
     "[[1024, 1], [1024, 1], [1]]", kThreeEmpty},
    {N::kT, kOp, "aten::t", "[[1024, 1024]]", kBf16, kActStrides, R"([""])"},
    {N::kTranspose, kOp, "aten::transpose", "[[1024, 1024], [], []]",
     R"(["c10::BFloat16", "Scalar", "Scalar"])", "[[1024, 1], [], []]", R"(["", "0", "1"])"},
    {N::kAsStrided, kOp, "aten::as_strided", "[[1024, 1024], [], [], []]",
     R"(["c10::BFloat16", "ScalarList", "ScalarList", ""])", "[[1024, 1], [], [], []]",
     R"(["", "[1024, 1024]", "[1, 1024]", ""])"},
    {N::kAddmm, kOp, "aten::addmm", "[[1024], [4096, 1024], [1024, 1024], [], []]",
     R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
     "[[1], [1024, 1], [1, 1024], [], []]", R"(["", "", "", "1", "1"])"},
    {N::kView, kOp, "aten::view", "[[4096, 1024], []]", R"(["c10::BFloat16", "ScalarList"])",
     "[[1024, 1], []]", R"(["", "[4, 1024, 16, 64]"])"},
    {N::kSdpa, kOp, "aten::scaled_dot_product_attention", kHeads, kThreeBf16, kHeadStrides,
     kThreeEmpty},
    {N::kSdpaFlash, kOp, "aten::_scaled_dot_product_flash_attention", kHeads, kThreeBf16,
     kHeadStrides, kThreeEmpty},
    {N::kFlashForward, kOp, "aten::_flash_attention_forward", kHeads, kThreeBf16, kHeadStrides,
     kThreeEmpty},
    {N::kGelu, kOp, "aten::gelu", "[[4096, 4096], []]", R"(["c10::BFloat16", ""])",
     "[[4096, 1], []]", R"(["", "none"])"},
    {N::kAdd, kOp, "aten::add", "[[4096, 1024], [4096, 1024], []]",
     R"(["c10::BFloat16", "c10::BFloat16", "Scalar"])", "[[1024, 1], [1024, 1], []]",
     R"(["", "", "1"])"},
    {N::kCrossEntropy, kOp, "aten::cross_entropy_loss", "[[4096, 32000], [4096], [], [], [], []]",
     R"(["float", "long int", "", "Scalar", "Scalar", "Scalar"])",
     "[[32000, 1], [1], [], [], [], []]", R"(["", "", "", "1", "-100", "0."])"},
    {N::kLogSoftmax, kOp, "aten::log_softmax", "[[4096, 32000], [], []]",
     R"(["float", "Scalar", "Scalar"])", "[[32000, 1], [], []]", R"(["", "1", "6"])"},
    {N::kLogSoftmaxInner, kOp, "aten::_log_softmax", "[[4096, 32000], [], []]",
     R"(["float", "Scalar", "Scalar"])", "[[32000, 1], [], []]", R"(["", "1", "False"])"},
    {N::kNllLossNd, kOp, "aten::nll_loss_nd", "[[4096, 32000], [4096], [], [], []]",
     R"(["float", "long int", "", "Scalar", "Scalar"])", "[[32000, 1], [1], [], [], []]",
     R"(["", "", "", "1", "-100"])"},
    {N::kNllLoss, kOp, "aten::nll_loss", "[[4096, 32000], [4096], [], [], []]",
     R"(["float", "long int", "", "Scalar", "Scalar"])", "[[32000, 1], [1], [], [], []]",
     R"(["", "", "", "1", "-100"])"},
    {N::kNllLossForward, kOp, "aten::nll_loss_forward", "[[4096, 32000], [4096], [], [], []]",
     R"(["float", "long int", "", "Scalar", "Scalar"])", "[[32000, 1], [1], [], [], []]",
     R"(["", "", "", "1", "-100"])"},
    {N::kDiv, kOp, "aten::div", "[[], []]", R"(["float", "Scalar"])", "[[], []]", R"(["", "8."])"},
    {N::kEvalDiv, kOp, "autograd::engine::evaluate_function: DivBackward0"},
    {N::kDivBackward, kOp, "DivBackward0", "[[]]", R"(["float"])", "[[]]", R"([""])"},
    {N::kEvalNll, kOp, "autograd::engine::evaluate_function: NllLossBackward0"},
    {N::kNllBackward, kOp, "NllLossBackward0", "[[]]", R"(["float"])", "[[]]", R"([""])"},
    {N::kNllLossBackward, kOp, "aten::nll_loss_backward", "[[], [4096, 32000], [4096]]",
     R"(["float", "float", "long int"])", "[[], [32000, 1], [1]]", kThreeEmpty},
    {N::kEvalLogSoftmax, kOp, "autograd::engine::evaluate_function: LogSoftmaxBackward0"},
    {N::kLogSoftmaxBackward, kOp, "LogSoftmaxBackward0", "[[4096, 32000]]", R"(["float"])",
     "[[32000, 1]]", R"([""])"},
    {N::kLogSoftmaxBackwardData, kOp, "aten::_log_softmax_backward_data",
     "[[4096, 32000], [4096, 32000], [], []]", R"(["float", "float", "Scalar", "Scalar"])",
     "[[32000, 1], [32000, 1], [], []]", R"(["", "", "1", "6"])"},
    {N::kEvalAddmm, kOp, "autograd::engine::evaluate_function: AddmmBackward0"},
    {N::kAddmmBackward, kOp, "AddmmBackward0", kAct, kBf16, kActStrides, R"([""])"},
    {N::kMm, kOp, "aten::mm", "[[4096, 1024], [1024, 1024]]", kTwoBf16, kTwoStrides, R"(["", ""])"},
    {N::kSum, kOp, "aten::sum", "[[4096, 1024], [], [], []]",
     R"(["c10::BFloat16", "ScalarList", "Scalar", ""])", "[[1024, 1], [], [], []]",
     R"(["", "[0]", "True", ""])"},
    {N::kEvalLayerNorm, kOp, "autograd::engine::evaluate_function: NativeLayerNormBackward0"},
    {N::kLayerNormBackward, kOp, "NativeLayerNormBackward0", kAct, kBf16, kActStrides, R"([""])"},
    {N::kNativeLayerNormBackward, kOp, "aten::native_layer_norm_backward", kTwo, kTwoBf16,
     kTwoStrides, R"(["", ""])"},
    {N::kEvalGelu, kOp, "autograd::engine::evaluate_function: GeluBackward0"},
    {N::kGeluBackward, kOp, "GeluBackward0", "[[4096, 4096]]", kBf16, "[[4096, 1]]", R"([""])"},
    {N::kGeluBackwardOp, kOp, "aten::gelu_backward", "[[4096, 4096], [4096, 4096], []]",
     R"(["c10::BFloat16", "c10::BFloat16", ""])", "[[4096, 1], [4096, 1], []]",
     R"(["", "", "none"])"},
    {N::kEvalAdd, kOp, "autograd::engine::evaluate_function: AddBackward0"},
    {N::kAddBackward, kOp, "AddBackward0", kAct, kBf16, kActStrides, R"([""])"},
    {N::kEvalSdpa, kOp,
     "autograd::engine::evaluate_function: ScaledDotProductFlashAttentionBackward0"},
    {N::kSdpaBackward, kOp, "ScaledDotProductFlashAttentionBackward0", "[[4, 16, 1024, 64]]", kBf16,
     "[[1048576, 64, 1024, 1]]", R"([""])"},
    {N::kSdpaBackwardOp, kOp, "aten::_scaled_dot_product_flash_attention_backward", kHeads,
     kThreeBf16, kHeadStrides, kThreeEmpty},
    {N::kFlashBackwardOp, kOp, "aten::_flash_attention_backward", kHeads, kThreeBf16, kHeadStrides,
     kThreeEmpty},
    {N::kEvalEmbedding, kOp, "autograd::engine::evaluate_function: EmbeddingBackward0"},
    {N::kEmbeddingBackward, kOp, "EmbeddingBackward0", kAct, kBf16, kActStrides, R"([""])"},
    {N::kEmbeddingBackwardOp, kOp, "aten::embedding_backward", "[[4096, 1024], [4, 1024]]",
     R"(["c10::BFloat16", "long int"])", kTwoStrides, R"(["", ""])"},
    {N::kEmbeddingDenseBackward, kOp, "aten::embedding_dense_backward", "[[4096, 1024], [4, 1024]]",
     R"(["c10::BFloat16", "long int"])", kTwoStrides, R"(["", ""])"},
    {N::kEvalAccumulate, kOp,
     "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"},
    {N::kAccumulate, kOp, "torch::autograd::AccumulateGrad", "[[1024, 1024]]", kBf16, kActStrides,
     R"([""])"},
    {N::kAddInPlace, kOp, "aten::add_", "[[1024, 1024], [1024, 1024], []]",
     R"(["c10::BFloat16", "c10::BFloat16", "Scalar"])", "[[1024, 1], [1024, 1], []]",
     R"(["", "", "1"])"},
    {N::kDetach, kOp, "aten::detach", "[[1024, 1024]]", kBf16, kActStrides, R"([""])"},
    {N::kRecordParamComms, kOp, "record_param_comms"},
    {N::kForeachNorm, kOp, "aten::_foreach_norm", "[[], [], []]", R"(["TensorList", "Scalar", ""])",
     "[[], [], []]", R"(["", "2", ""])"},
    {N::kLinalgVectorNorm, kOp, "aten::linalg_vector_norm", "[[64], [], [], [], []]",
     R"(["float", "Scalar", "", "Scalar", ""])", "[[1], [], [], [], []]",
     R"(["", "2.", "", "False", ""])"},
    {N::kFusedAdamw, kOp, "aten::_fused_adamw_", "[[], [], [], [], [], []]",
     R"(["TensorList", "TensorList", "TensorList", "TensorList", "TensorList", "TensorList"])",
     "[[], [], [], [], [], []]", R"(["", "", "", "", "", ""])"},
    {N::kItem, kOp, "aten::item", "[[]]", R"(["float"])", "[[]]", R"([""])"},
    {N::kLocalScalarDense, kOp, "aten::_local_scalar_dense", "[[]]", R"(["float"])", "[[]]",
     R"([""])"},
};

constexpr HostNameInfo kOtherNames[] = {
    {N::kProfilerStep, kNote, "ProfilerStep#"},
    {N::kDataLoaderNext, kNote, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"},
    {N::kZeroGrad, kNote, "Optimizer.zero_grad#AdamW.zero_grad"},
    {N::kForward, kNote, "DistributedDataParallel.forward"},
    {N::kBackward, kNote, "## backward ##"},
    {N::kNcclAllReduce, kNote, "nccl:all_reduce"},
    {N::kOptimizerStep, kNote, "Optimizer.step#AdamW.step"},
    {N::kGraphReplay, kNote, "## teacher graph ##"},
    {N::kPyModule, kPy, "train.py(1): <module>"},
    {N::kPyMain, kPy, "train.py(88): main"},
    {N::kPyTrainStep, kPy, "train.py(41): train_step"},
    {N::kPyNext, kPy, "torch/utils/data/dataloader.py(701): __next__"},
    {N::kPyBlock, kPy, "nn.Module: TransformerBlock_"},
    {N::kPyLinear, kPy, "nn.Module: Linear_"},
    {N::kPyBuiltinLinear, kPy, "<built-in function linear>"},
    {N::kPyBackward, kPy, "torch/_tensor.py(570): backward"},
    {N::kPyOptimizer, kPy, "torch/optim/adamw.py(199): step"},
    {N::kPyItem, kPy, "<built-in method item of Tensor object at 0x7f3a5c0d1e40>"},
};

constexpr size_t kOpCount = std::size(kOpNames);
static_assert(kOpCount + std::size(kOtherNames) == static_cast<size_t>(N::kCount));

constexpr bool RowsMatchEnum() {
  for (size_t i = 0; i < kOpCount; ++i) {
    if (static_cast<size_t>(kOpNames[i].id) != i) return false;
  }
  for (size_t i = 0; i < std::size(kOtherNames); ++i) {
    if (static_cast<size_t>(kOtherNames[i].id) != kOpCount + i) return false;
  }
  return true;
}
static_assert(RowsMatchEnum(), "the rows must stand in the order of HostName");

constexpr std::string_view kRuntime = "cuda_runtime";
constexpr std::string_view kDriver = "cuda_driver";

// In the order of `Api`.
constexpr std::array<ApiInfo, static_cast<size_t>(Api::kCount)> kCudaApis = {{
    {"cudaLaunchKernel", kRuntime, 211, true, true},
    {"cuLaunchKernelEx", kDriver, 652, true, true},
    {"cudaLaunchKernelExC", kRuntime, 430, true, true},
    {"cudaMemcpyAsync", kRuntime, 41, true, true},
    {"cudaMemsetAsync", kRuntime, 51, true, true},
    {"cudaGraphLaunch", kRuntime, 311, true, true},
    {"cudaStreamSynchronize", kRuntime, 131, false, true},
    {"cudaDeviceSynchronize", kRuntime, 165, false, true},
    {"cudaEventSynchronize", kRuntime, 137, false, false},
    {"cudaEventRecord", kRuntime, 135, false, false},
    {"cudaStreamWaitEvent", kRuntime, 147, false, true},
    {"cudaStreamIsCapturing", kRuntime, 317, false, false},
    {"cudaFuncSetAttribute", kRuntime, 273, false, false},
}};

constexpr std::array<ApiInfo, static_cast<size_t>(Api::kCount)> kHipApis = {{
    {"hipLaunchKernel", kRuntime, 107, true, true},
    {"hipExtModuleLaunchKernel", kRuntime, 65, true, true},
    {"hipExtLaunchKernel", kRuntime, 64, true, true},
    {"hipMemcpyWithStream", kRuntime, 153, true, true},
    {"hipMemsetAsync", kRuntime, 160, true, false},
    {"hipGraphLaunch", kRuntime, 91, true, true},
    {"hipStreamSynchronize", kRuntime, 301, false, false},
    {"hipDeviceSynchronize", kRuntime, 48, false, false},
    {"hipEventSynchronize", kRuntime, 61, false, false},
    {"hipEventRecord", kRuntime, 60, false, false},
    {"hipStreamWaitEvent", kRuntime, 303, false, false},
    {"hipStreamIsCapturing", kRuntime, 290, false, false},
    {"hipFuncSetAttribute", kRuntime, 70, false, false},
}};

}  // namespace

const HostNameInfo& GetHostName(HostName name) {
  const size_t index = static_cast<size_t>(name);
  return index < kOpCount ? kOpNames[index] : kOtherNames[index - kOpCount];
}

const ApiInfo& GetApi(Vendor vendor, Api api) {
  const size_t index = static_cast<size_t>(api);
  return vendor == Vendor::kNvidia ? kCudaApis[index] : kHipApis[index];
}

}  // namespace borescope::scenario
