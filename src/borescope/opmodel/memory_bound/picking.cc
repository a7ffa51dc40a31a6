// Operators of which the arguments do not tell how much they pick: what is certain is counted, and
// marked as a lower bound, or nothing is.
#include <algorithm>
#include <bit>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

using enum ScalarType;

// The steps of a binary search in so many sorted values.
int64_t SearchSteps(int64_t values) {
  return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(values)));
}

}  // namespace

// Lengths or places stand in the memory of the device, which is not recorded.
OpCost DependsOnData(const OpCall& call) { return Failure(call, CostStatus::kDependsOnData); }

// All of x is looked at; how much is found is not known. variant: the tensor looked at
OpCost LookThrough(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(call.model.variant);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type).Read(*x).PerElement(Elements(*x)).LowerBound().Finish();
}

// (x, indices, values, accumulate): every value goes to a place of its own, or, broadcast, to more.
// A single value goes to as many as the indices say.
OpCost IndexPut(const OpCall& call) {
  constexpr size_t kValues = 2;
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* values = call.args.Tensor(kValues);
  if (x == nullptr || values == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const Quantity placed = Elements(*values);
  if (placed == Quantity(1) && !(Elements(*x) == Quantity(1))) {
    return Failure(call, CostStatus::kDependsOnData);
  }
  const bool adds = call.args.Bool(kValues + 1).value_or(false);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*values).Vector(adds ? placed : Quantity(0)).LowerBound();
  if (!call.is_in_place) return cost.Read(*x).Write(*x).Finish();
  return cost.Read(adds ? placed : Quantity(0), x->type).Write(placed, x->type).Finish();
}

// (sorted, x) or (x, sorted): for each of x the place where it belongs. variant: where x is
OpCost Search(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(call.model.variant);
  const OpTensor* sorted = call.args.Tensor(1 - call.model.variant);
  if (x == nullptr || sorted == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (sorted->rank() == 0) return Failure(call, CostStatus::kBadShapes);
  const bool is_short = call.args.Bool(2).value_or(false);
  const Quantity touched = Elements(*x) * SearchSteps(sorted->dims.back());
  const Quantity all = Elements(*sorted);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Read(touched.value() < all.value() ? touched : all, sorted->type)
      .Write(Elements(*x), is_short ? kInt32 : kInt64)
      .Finish();
}

// (x, weights, least number of bins): the number of bins is the largest value of x.
OpCost BinCount(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const OpTensor* weights = call.args.Tensor(1);
  const Quantity bins = std::max<int64_t>(0, call.args.Integer(2).value_or(0));
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Read(weights)
      .PerElement(Elements(*x))
      .Write(bins, weights == nullptr ? kInt64 : kFloat64)
      .LowerBound()
      .Finish();
}

// (x, number of bins, ...): the bin of each element by a difference and a product, and one more
// in it
OpCost Histogram(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto bins = call.args.Integer(1);
  if (!bins) return Failure(call, CostStatus::kNeedsValues);
  CostBuilder cost(call);
  return cost.Type(x->type).Read(*x).PerElement(Elements(*x)).Write(*bins, x->type).Finish();
}

}  // namespace borescope::internal::opmodel
