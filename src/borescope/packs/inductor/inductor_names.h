// What the names of kernels that TorchInductor generated say:
// `triton_<category>_fused_<operators>_<number>`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {

enum class InductorCategory : uint8_t {
  // Generated.
  kPointwise,
  kReduction,
  kPersistentReduction,
  kTemplate,  // matrix multiplication, convolution or attention chosen by autotuning
  kForeach,
  kSplitScan,
  kTritonOther,  // other names with "triton_": cooperative reductions, names that are not unique
  kTritonUser,   // launched by Triton under a name of the user's own
  // Not generated.
  kGemm,
  kConv,
  kAttention,
  kCollective,
  kCopy,  // memcpys, memsets, kernels that copy
  kAten,  // PyTorch's own kernels of any other class
  kOther,
  kCount
};

// "triton_pointwise", ..., "gemm", ..., "other".
std::string_view InductorCategoryName(InductorCategory category);

// The category of a kernel. `by_triton`: its launch recorded that Triton made it.
InductorCategory InductorCategoryOf(std::string_view kernel, KernelClass kernel_class,
                                    bool by_triton);

// True for the categories whose code TorchInductor wrote.
bool IsGenerated(InductorCategory category);

// The operators in the name of a generated kernel, in order: "triton_red_fused__to_copy_mean_3" ->
// "_to_copy", "mean". Empty if the name lists none. Names of operators can contain "_" themselves,
// so that the longest known operator is used, or else each word.
std::vector<std::string_view> FusedOps(std::string_view kernel);

// The name without the specialisation that Triton 2 appended ("_0d1d2de": argument 0 divisible by
// 16, ...); names that end in anything else stay as they are.
std::string_view WithoutSpecialisation(std::string_view kernel);

}  // namespace borescope::internal
