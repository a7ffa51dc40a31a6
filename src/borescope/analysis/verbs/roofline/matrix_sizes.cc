#include "borescope/analysis/verbs/roofline/matrix_sizes.h"

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

// Tensors of at least two dimensions, in the order of the arguments.
std::vector<const OpTensor*> MatricesOf(const CallArgs& args) {
  std::vector<const OpTensor*> matrices;
  for (size_t i = 0; i < args.size(); ++i) {
    const OpTensor* tensor = args.Tensor(i);
    if (tensor != nullptr && tensor->rank() >= 2) {
      matrices.push_back(tensor);
    }
  }
  return matrices;
}

int64_t FromBack(const OpTensor& tensor, size_t back) {
  return tensor.dims[tensor.dims.size() - back];
}

std::vector<NamedSize> ProductSizes(std::string_view name, const CallArgs& args) {
  // Where the first factor is: addmm and its like have an addend, which may be a matrix, before it.
  const bool has_addend = Contains(name, "add");
  const OpTensor* a = args.Tensor(has_addend ? 1 : 0);
  const OpTensor* b = args.Tensor(has_addend ? 2 : 1);
  if (a == nullptr || b == nullptr || a->rank() < 2 || b->rank() < 2) return {};
  const bool is_linear = name.ends_with("linear");
  return {{"m", FromBack(*a, 2)}, {"n", FromBack(*b, is_linear ? 2 : 1)}, {"k", FromBack(*a, 1)}};
}

// Of two tensors (input, weight), backward of three, the gradient in front.
std::vector<NamedSize> ConvolutionSizes(std::string_view name, const CallArgs& args) {
  const std::vector<const OpTensor*> tensors = MatricesOf(args);
  const size_t weight = Contains(name, "backward") ? 2 : 1;
  if (tensors.size() <= weight) return {};
  return {{"channels in", tensors[weight]->dims[1]}, {"channels out", tensors[weight]->dims[0]}};
}

}  // namespace

std::vector<NamedSize> MatrixSizesOf(std::string_view name, OpFamily family, const CallArgs& args) {
  if (family == OpFamily::kGemm) return ProductSizes(name, args);
  if (family == OpFamily::kConvolution) return ConvolutionSizes(name, args);
  return {};
}

}  // namespace borescope::internal
