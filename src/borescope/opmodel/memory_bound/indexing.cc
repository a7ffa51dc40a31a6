// Operators that pick or place elements by index. What is picked is read, not the whole of where it
// is picked from.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

using enum ScalarType;

// The size of a dimension, which may be counted from the end; nothing if there is none.
std::optional<int64_t> SizeOf(const OpTensor& tensor, int64_t dim) {
  const auto rank = static_cast<int64_t>(tensor.rank());
  dim = dim < 0 && dim >= -rank ? dim + rank : dim;
  if (dim < 0 || dim >= rank) return std::nullopt;
  return tensor.dims[static_cast<size_t>(dim)];
}

// Elements at one place of a dimension; nothing if there is none of that number.
std::optional<Quantity> SliceOf(const OpTensor& tensor, int64_t dim) {
  const auto size = SizeOf(tensor, dim);
  if (!size) return std::nullopt;
  return *size == 0 ? Quantity(0) : Elements(tensor).DividedUp(static_cast<uint64_t>(*size));
}

}  // namespace

OpCost Embedding(const OpCall& call) {
  const OpTensor* weight = call.args.Tensor(0);
  const OpTensor* indices = call.args.Tensor(1);
  if (weight == nullptr || indices == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (weight->rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const Quantity picked = Elements(*indices) * weight->dims[1];
  CostBuilder cost(call);
  return cost.Type(weight->type)
      .Read(*indices)
      .Read(picked, weight->type)
      .Write(picked, weight->type)
      .Finish();
}

// dy [..., d], indices, number of rows: the gradient of all rows is written.
OpCost EmbeddingBackward(const OpCall& call) {
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* indices = call.args.Tensor(1);
  if (gradient == nullptr || indices == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto rows = call.args.Integer(2);
  if (!rows) return Failure(call, CostStatus::kNeedsValues);
  if (gradient->rank() == 0 || *rows < 0) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  return cost.Type(gradient->type)
      .Read(*gradient)
      .Read(*indices)
      .Vector(Elements(*gradient))
      .Write(Quantity(*rows) * gradient->dims.back(), gradient->type)
      .Finish();
}

OpCost IndexSelect(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* index = call.args.Tensor(2);
  if (x == nullptr || index == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto dim = call.args.Integer(1);
  if (!dim) return Failure(call, CostStatus::kNeedsValues);
  const auto slice = SliceOf(*x, *dim);
  if (!slice) return Failure(call, CostStatus::kBadShapes);
  const Quantity picked = *slice * Elements(*index);
  CostBuilder cost(call);
  return cost.Type(x->type).Read(*index).Read(picked, x->type).Write(picked, x->type).Finish();
}

// (x, dim, index, value)
OpCost IndexFill(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* index = call.args.Tensor(2);
  if (x == nullptr || index == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto dim = call.args.Integer(1);
  if (!dim) return Failure(call, CostStatus::kNeedsValues);
  const auto slice = SliceOf(*x, *dim);
  if (!slice) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*index);
  if (!call.is_in_place) return cost.Read(*x).Write(*x).Finish();
  return cost.Write(*slice * Elements(*index), x->type).Finish();
}

OpCost Gather(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* index = call.args.Tensor(call.model.variant);
  if (x == nullptr || index == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*index)
      .Read(Elements(*index), x->type)
      .Write(Elements(*index), x->type)
      .Finish();
}

// (x, index, source, accumulate)
OpCost Put(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* index = call.args.Tensor(1);
  const OpTensor* source = call.args.Tensor(2);
  if (x == nullptr || index == nullptr || source == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const Quantity touched = Elements(*index);
  const Quantity added = call.args.Bool(3).value_or(false) ? touched : Quantity(0);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*index).Read(touched, source->type).Vector(added);
  if (!call.is_in_place) return cost.Read(*x).Write(*x).Finish();
  return cost.Read(added, x->type).Write(touched, x->type).Finish();
}

// (x, dim, index, source). In place what is touched is written, and read if it is added to; else
// all of x is read and written. An index that picks whole slices touches as much as the source has;
// one of elements may be smaller than the source, the rest of which is not read. variant: kPlace or
// kPlaceAndAdd
OpCost Scatter(const OpCall& call) {
  constexpr size_t kSource = 3;
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* index = call.args.Tensor(2);
  if (x == nullptr || index == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const OpTensor* source = call.args.Tensor(kSource);
  const bool adds = call.model.variant == kPlaceAndAdd;
  const bool is_of_slices = source != nullptr && index->rank() <= 1 && x->rank() > 1;
  const Quantity touched = Elements(is_of_slices ? *source : *index);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*index).Vector(adds ? touched : Quantity(0));
  if (source != nullptr) cost.Read(touched, source->type);
  if (!call.is_in_place) return cost.Read(*x).Write(*x).Finish();
  return cost.Read(adds ? touched : Quantity(0), x->type).Write(touched, x->type).Finish();
}

OpCost Sort(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type).Read(*x).Write(*x).Write(Elements(*x), kInt64).Finish();
}

OpCost TopK(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto count = call.args.Integer(1);
  if (!count) return Failure(call, CostStatus::kNeedsValues);
  const auto size = x->rank() == 0 ? 1 : SizeOf(*x, call.args.Integer(2).value_or(-1));
  if (!size || *count < 0 || *count > *size) return Failure(call, CostStatus::kBadShapes);
  const Quantity rows =
      *size == 0 ? Quantity(0) : Elements(*x).DividedUp(static_cast<uint64_t>(*size));
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .PerElement(Elements(*x))
      .Write(rows * *count, x->type)
      .Write(rows * *count, kInt64)
      .Finish();
}

}  // namespace borescope::internal::opmodel
