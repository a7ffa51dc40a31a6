// Kernels that TorchInductor generated. Their arguments are the buffers that they read or write,
// each of them once; what they compute stands in their code alone.
#include <algorithm>
#include <iterator>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

// Operators that touch a part of a buffer, which the shape of the whole does not tell.
bool TouchesParts(std::string_view name) {
  constexpr std::string_view kWords[] = {"_embedding", "_index", "_gather", "_scatter",   "_slice",
                                         "_select",    "_split", "_unbind", "_as_strided"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

OpCost GeneratedKernel(const OpCall& call) {
  if (TouchesParts(call.name)) return Failure(call, CostStatus::kNeedsValues);
  CostBuilder cost(call);
  bool has_tensor = false;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const OpTensor* tensor = call.args.Tensor(i);
    if (tensor == nullptr) continue;
    cost.Type(has_tensor ? cost.type() : tensor->type).Read(*tensor);
    has_tensor = true;
  }
  if (!has_tensor) return Failure(call, CostStatus::kMissingShapes);
  return cost.FinishBytes();
}

}  // namespace borescope::internal::opmodel
