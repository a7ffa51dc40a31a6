// Reductions over some or all dimensions. FLOPs per element are of the input; what is done once per
// result (a division, a root) is one more.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

using enum ScalarType;

// Elements of the result; nothing if the dimensions are none of x. A number has one to name.
std::optional<Quantity> Remaining(const OpTensor& x, const std::vector<int64_t>& reduced) {
  if (reduced.empty()) return 1;
  std::vector<int64_t> dims = x.dims;
  if (dims.empty()) dims = {1};
  const auto rank = static_cast<int64_t>(dims.size());
  for (int64_t dim : reduced) {
    dim = dim < 0 && dim >= -rank ? dim + rank : dim;
    if (dim < 0 || dim >= rank) return std::nullopt;
    dims[static_cast<size_t>(dim)] = 1;
  }
  return Product(dims);
}

ScalarType TypeOfResult(const OpCall& call, ScalarType input) {
  if (call.model.variant == kReduceToIndex) return kInt64;
  if (call.model.result == ResultType::kBool) return kBool;
  const bool is_sum = call.model.variant == kReduceSum || call.model.variant == kReduceMean;
  const bool is_integer = input != kUnknown && !IsFloatingPoint(input) && !IsComplex(input);
  return is_sum && is_integer ? kInt64 : input;
}

// Where the schema has its dimensions.
size_t DimsAt(const OpCall& call) { return call.model.inputs; }

// With one argument behind the tensor, that is a type or a correction, not the dimensions.
bool ReducesAll(const OpCall& call) {
  const size_t at = DimsAt(call);
  return at >= call.args.size() || call.args[at].kind == ArgKind::kAbsent ||
         (at == 1 && call.args.size() == 2);
}

bool HasDivision(const OpCall& call) { return call.model.variant == kReduceMean; }

}  // namespace

OpCost Reduction(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  std::vector<int64_t> reduced;
  if (!ReducesAll(call)) {
    auto dims = call.args.Integers(DimsAt(call));
    if (!dims) return Failure(call, CostStatus::kNeedsValues);
    reduced = std::move(*dims);
  }
  const auto results = Remaining(*x, reduced);
  if (!results) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*x).PerElement(Elements(*x));
  cost.Vector(HasDivision(call) ? *results : Quantity(0));
  cost.Transcendental(call.model.variant == kReduceRoot ? *results : Quantity(0));
  // max and min over one dimension give the index, too.
  const bool gives_index = call.model.variant == kReduceMaximum && !reduced.empty();
  cost.Write(gives_index ? *results : Quantity(0), kInt64);
  cost.Write(call.model.variant == kReduceTwo ? *results : Quantity(0), x->type);
  return cost.Write(*results, TypeOfResult(call, x->type)).Finish();
}

// torch.max and torch.min of two tensors are pointwise.
OpCost MaximumOf(const OpCall& call) {
  constexpr size_t kOther = 1;
  if (call.args.Tensor(kOther) == nullptr) return Reduction(call);
  OpModel pointwise = call.model;
  pointwise.inputs = 2;
  return Pointwise({pointwise, call.args, call.options, call.is_in_place});
}

}  // namespace borescope::internal::opmodel
