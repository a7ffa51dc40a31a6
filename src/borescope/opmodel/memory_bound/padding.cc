// Padding by what is inside, windows as columns, and back.
#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

// (x, before and behind the last dimension, before and behind that in front of it, ...)
OpCost PadByInside(const OpCall& call) {
  constexpr int64_t kMostPadding = int64_t{1} << 30;  // what is larger is damage
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto padding = call.args.Integers(1);
  if (!padding) return Failure(call, CostStatus::kNeedsValues);
  std::vector<int64_t> dims = x->dims;
  if (padding->size() % 2 != 0 || padding->size() / 2 > dims.size()) {
    return Failure(call, CostStatus::kBadShapes);
  }
  for (size_t i = 0; i < padding->size(); ++i) {
    int64_t& dim = dims[dims.size() - 1 - i / 2];
    const int64_t more = (*padding)[i];
    const bool is_sane = more < kMostPadding && more > -kMostPadding && dim < INT64_MAX / 2;
    if (!is_sane || dim + more < 0) return Failure(call, CostStatus::kBadShapes);
    dim += more;
  }
  CostBuilder cost(call);
  return cost.Type(x->type).Read(*x).Write(Product(dims), x->type).Finish();
}

// (dy, x, ...): the gradient of x by that of the result. What was padded is added.
OpCost GradientOfShape(const OpCall& call) {
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* x = call.args.Tensor(1);
  if (gradient == nullptr || x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type).Read(*gradient).PerElement(Elements(*gradient)).Write(*x).Finish();
}

// (dy, output size, input size, ...): of interpolation.
OpCost UpsampleBackward(const OpCall& call) {
  const OpTensor* gradient = call.args.Tensor(0);
  if (gradient == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto dims = call.args.Integers(2);
  if (!dims) return Failure(call, CostStatus::kNeedsValues);
  CostBuilder cost(call);
  return cost.Type(gradient->type)
      .Read(*gradient)
      .PerElement(Elements(*gradient))
      .Write(Product(*dims), gradient->type)
      .Finish();
}

}  // namespace borescope::internal::opmodel
