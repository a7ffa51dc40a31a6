#include "borescope/packs/inductor/inductor_names.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "borescope/base/check.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kTritonPrefix = "triton_";
constexpr std::string_view kFused = "_fused_";

struct PrefixRow {
  std::string_view prefix;
  InductorCategory category;
};

// The first match wins.
constexpr PrefixRow kPrefixes[] = {
    {"triton_poi_", InductorCategory::kPointwise},
    {"triton_red_", InductorCategory::kReduction},
    {"triton_per_", InductorCategory::kPersistentReduction},
    {"triton_tem_", InductorCategory::kTemplate},
    {"triton_for_", InductorCategory::kForeach},
    {"triton_spl_", InductorCategory::kSplitScan},
    {"triton_", InductorCategory::kTritonOther},
};

// Operators whose names contain an underscore after the first letter, sorted by bytes.
constexpr std::string_view kOps[] = {
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool2d_backward",
    "_conj_physical",
    "_efficient_attention_forward",
    "_embedding_bag",
    "_flash_attention_forward",
    "_fused_rms_norm",
    "_fused_rms_norm_backward",
    "_local_scalar_dense",
    "_log_softmax",
    "_log_softmax_backward_data",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_prelu_kernel",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention",
    "_scaled_mm",
    "_softmax",
    "_softmax_backward_data",
    "_to_copy",
    "_unsafe_index",
    "_unsafe_index_put",
    "_unsafe_masked_index",
    "_unsafe_view",
    "_weight_norm_interface",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "add_rms_norm",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_single",
    "as_strided",
    "as_strided_scatter",
    "avg_pool2d",
    "avg_pool2d_backward",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_in_dim",
    "broadcast_to",
    "clamp_max",
    "clamp_min",
    "constant_pad_nd",
    "convert_element_type",
    "convolution_backward",
    "copy_",
    "cross_entropy",
    "diagonal_copy",
    "embedding_dense_backward",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "expand_as",
    "expand_copy",
    "fill_",
    "flex_attention",
    "flex_attention_backward",
    "floor_divide",
    "full_like",
    "gelu_backward",
    "grid_sampler_2d",
    "group_norm",
    "hardsigmoid_backward",
    "hardswish_backward",
    "hardtanh_backward",
    "index_add",
    "index_copy",
    "index_put",
    "index_select",
    "inductor_lookup_seed",
    "inductor_randint",
    "inductor_random",
    "inductor_seeds",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_backward",
    "lift_fresh_copy",
    "linalg_vector_norm",
    "log_sigmoid_forward",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "masked_fill",
    "masked_scatter",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
    "mean_dim",
    "mse_loss",
    "mse_loss_backward",
    "native_batch_norm",
    "native_batch_norm_backward",
    "native_dropout",
    "native_dropout_backward",
    "native_group_norm",
    "native_group_norm_backward",
    "native_layer_norm",
    "native_layer_norm_backward",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "nll_loss",
    "nll_loss_backward",
    "nll_loss_forward",
    "ones_like",
    "pixel_shuffle",
    "rand_like",
    "randn_like",
    "reduce_scatter_tensor",
    "reflection_pad1d",
    "reflection_pad2d",
    "repeat_interleave",
    "replication_pad2d",
    "rms_norm",
    "scalar_tensor",
    "scaled_dot_product_attention",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "select_backward",
    "select_scatter",
    "sigmoid_backward",
    "silu_backward",
    "slice_backward",
    "slice_scatter",
    "smooth_l1_loss",
    "split_with_sizes",
    "std_mean",
    "sym_size",
    "tanh_backward",
    "threshold_backward",
    "transpose_copy",
    "unsafe_split",
    "unsqueeze_copy",
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_nearest2d",
    "upsample_nearest2d_backward",
    "var_mean",
    "view_as_complex",
    "view_as_real",
    "view_copy",
    "wait_tensor",
    "zeros_like",
};

// The length of the longest known operator at the begin of the text that is followed by "_" or the
// end.
size_t KnownOp(std::string_view text) {
  size_t length = 0;
  for (const std::string_view op : kOps) {
    if (op.size() > length && text.starts_with(op) &&
        (text.size() == op.size() || text[op.size()] == '_')) {
      length = op.size();
    }
  }
  return length;
}

// The length of one word with the underscores before it.
size_t Word(std::string_view text) {
  const size_t letter = std::min(text.find_first_not_of('_'), text.size());
  return std::min(text.find('_', letter), text.size());
}

// "add_mul_3" -> "add_mul", "3" -> "".
std::string_view WithoutNumber(std::string_view text) {
  const size_t last = text.find_last_not_of("0123456789");
  if (last == std::string_view::npos) {
    return {};
  }
  const bool has_number = last + 1 < text.size() && text[last] == '_';
  return has_number ? text.substr(0, last) : text;
}

// Whether the whole text is a specialisation of arguments, "0d1d2de": indices from 0 on, each
// followed by its letters, with at least one letter in all.
bool IsSpecialisation(std::string_view text) {
  size_t at = 0;
  bool has_letter = false;
  for (size_t index = 0; at < text.size(); ++index) {
    const std::string number = std::to_string(index);
    if (!text.substr(at).starts_with(number)) {
      return false;
    }
    at += number.size();
    while (at < text.size() && (text[at] == 'd' || text[at] == 'c' || text[at] == 'e')) {
      has_letter = true;
      ++at;
    }
  }
  return has_letter;
}

bool IsAten(std::string_view kernel) {
  return Contains(kernel, "at::native") || Contains(kernel, "at_cuda_detail");
}

}  // namespace

std::string_view InductorCategoryName(InductorCategory category) {
  constexpr std::string_view kNames[] = {"triton_pointwise",
                                         "triton_reduction",
                                         "triton_persistent_reduction",
                                         "triton_template",
                                         "triton_foreach",
                                         "triton_split_scan",
                                         "triton_other",
                                         "triton_user",
                                         "gemm",
                                         "conv",
                                         "attention",
                                         "collective",
                                         "copy",
                                         "aten",
                                         "other"};
  static_assert(std::size(kNames) == static_cast<size_t>(InductorCategory::kCount));
  BS_DCHECK(category < InductorCategory::kCount);
  return kNames[static_cast<size_t>(category)];
}

InductorCategory InductorCategoryOf(std::string_view kernel, KernelClass kernel_class,
                                    bool by_triton) {
  for (const PrefixRow& row : kPrefixes) {
    if (kernel.starts_with(row.prefix)) {
      return row.category;
    }
  }
  if (by_triton) {
    return InductorCategory::kTritonUser;
  }
  switch (kernel_class) {
    case KernelClass::kGemm:
      return InductorCategory::kGemm;
    case KernelClass::kConv:
      return InductorCategory::kConv;
    case KernelClass::kAttention:
      return InductorCategory::kAttention;
    case KernelClass::kCollective:
      return InductorCategory::kCollective;
    case KernelClass::kCopy:
      return InductorCategory::kCopy;
    default:
      return IsAten(kernel) ? InductorCategory::kAten : InductorCategory::kOther;
  }
}

bool IsGenerated(InductorCategory category) { return category <= InductorCategory::kTritonOther; }

std::vector<std::string_view> FusedOps(std::string_view kernel) {
  std::vector<std::string_view> ops;
  const std::string_view name = WithoutSpecialisation(kernel);
  const size_t fused = name.find(kFused);
  if (!name.starts_with(kTritonPrefix) || fused == std::string_view::npos) {
    return ops;
  }
  std::string_view rest = WithoutNumber(name.substr(fused + kFused.size()));
  while (!rest.empty()) {
    const size_t known = KnownOp(rest);
    const size_t length = known != 0 ? known : Word(rest);
    if (rest.substr(0, length).find_first_not_of('_') != std::string_view::npos) {
      ops.push_back(rest.substr(0, length));
    }
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return ops;
}

std::string_view WithoutSpecialisation(std::string_view kernel) {
  const size_t bar = kernel.rfind('_');
  if (bar == std::string_view::npos || !IsSpecialisation(kernel.substr(bar + 1))) {
    return kernel;
  }
  return kernel.substr(0, bar);
}

}  // namespace borescope::internal
