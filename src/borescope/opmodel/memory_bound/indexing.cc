// Operators that read or write elements by index, that copy, pad and search. Only the indexed
// elements count, not the whole tensor.
#include <algorithm>
#include <bit>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

namespace {

using enum ScalarType;

// The size of a dimension, which may be counted from the end; nullopt if there is none.
std::optional<int64_t> SizeOf(const OpTensor& tensor, int64_t dim) {
  const auto rank = static_cast<int64_t>(tensor.rank());
  dim = dim < 0 && dim >= -rank ? dim + rank : dim;
  if (dim < 0 || dim >= rank) return std::nullopt;
  return tensor.dims[static_cast<size_t>(dim)];
}

// The number of elements at one index of a dimension; nullopt if there is no such dimension.
std::optional<Quantity> SliceOf(const OpTensor& tensor, int64_t dim) {
  const auto size = SizeOf(tensor, dim);
  if (!size) return std::nullopt;
  return *size == 0 ? Quantity(0) : Elements(tensor).DividedUp(static_cast<uint64_t>(*size));
}

}  // namespace

OpCost Embedding(const OpCall& call, const OpTensor& weight, const OpTensor& indices) {
  if (weight.rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const Quantity picked = Elements(indices) * weight.dims[1];
  return CostBuilder(call)
      .Type(weight.type)
      .Read(indices)
      .Read(picked, weight.type)
      .Write(picked, weight.type)
      .Finish();
}

// dy [..., d], indices, number of rows: the gradient of all rows is written.
OpCost EmbeddingBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& indices) {
  const auto rows = call.args.Integer(2);
  if (!rows) return Failure(call, CostStatus::kNeedsValues);
  if (gradient.rank() == 0 || *rows < 0) return Failure(call, CostStatus::kBadShapes);
  return CostBuilder(call)
      .Type(gradient.type)
      .Read(gradient)
      .Read(indices)
      .Vector(Elements(gradient))
      .Write(Quantity(*rows) * gradient.dims.back(), gradient.type)
      .Finish();
}

OpCost IndexSelect(const OpCall& call, const OpTensor& x, const OpTensor& index) {
  const auto dim = call.args.Integer(1);
  if (!dim) return Failure(call, CostStatus::kNeedsValues);
  const auto slice = SliceOf(x, *dim);
  if (!slice) return Failure(call, CostStatus::kBadShapes);
  const Quantity picked = *slice * Elements(index);
  return CostBuilder(call)
      .Type(x.type)
      .Read(index)
      .Read(picked, x.type)
      .Write(picked, x.type)
      .Finish();
}

// (x, dim, index, value)
OpCost IndexFill(const OpCall& call, const OpTensor& x, const OpTensor& index) {
  const auto dim = call.args.Integer(1);
  if (!dim) return Failure(call, CostStatus::kNeedsValues);
  const auto slice = SliceOf(x, *dim);
  if (!slice) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  cost.Type(x.type).Read(index);
  if (!call.is_in_place) return cost.Read(x).Write(x).Finish();
  return cost.Write(*slice * Elements(index), x.type).Finish();
}

OpCost Gather(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* index = call.args.Tensor(call.model.variant);
  if (x == nullptr || index == nullptr) return Failure(call, CostStatus::kMissingShapes);
  return CostBuilder(call)
      .Type(x->type)
      .Read(*index)
      .Read(Elements(*index), x->type)
      .Write(Elements(*index), x->type)
      .Finish();
}

// (x, index, source, accumulate)
OpCost Put(const OpCall& call, const OpTensor& x, const OpTensor& index, const OpTensor& source) {
  const Quantity touched = Elements(index);
  const Quantity added = call.args.Bool(3).value_or(false) ? touched : Quantity(0);
  CostBuilder cost(call);
  cost.Type(x.type).Read(index).Read(touched, source.type).Vector(added);
  if (!call.is_in_place) return cost.Read(x).Write(x).Finish();
  return cost.Read(added, x.type).Write(touched, x.type).Finish();
}

// (x, dim, index, source). In place, touched elements are written, and read if added to; else all
// of x is read and written. An index of whole slices touches as many elements as the source has. An
// index of elements may be smaller than the source, of which the rest is not read. variant: kPlace
// or kPlaceAndAdd
OpCost Scatter(const OpCall& call, const OpTensor& x, const OpTensor& index) {
  constexpr size_t kSource = 3;
  const OpTensor* source = call.args.Tensor(kSource);
  const bool adds = call.model.variant == kPlaceAndAdd;
  const bool is_of_slices = source != nullptr && index.rank() <= 1 && x.rank() > 1;
  const Quantity touched = Elements(is_of_slices ? *source : index);
  CostBuilder cost(call);
  cost.Type(x.type).Read(index).Vector(adds ? touched : Quantity(0));
  if (source != nullptr) cost.Read(touched, source->type);
  if (!call.is_in_place) return cost.Read(x).Write(x).Finish();
  return cost.Read(adds ? touched : Quantity(0), x.type).Write(touched, x.type).Finish();
}

OpCost Sort(const OpCall& call, const OpTensor& x) {
  return CostBuilder(call).Type(x.type).Read(x).Write(x).Write(Elements(x), kInt64).Finish();
}

OpCost TopK(const OpCall& call, const OpTensor& x) {
  const auto count = call.args.Integer(1);
  if (!count) return Failure(call, CostStatus::kNeedsValues);
  const auto size = x.rank() == 0 ? 1 : SizeOf(x, call.args.Integer(2).value_or(-1));
  if (!size || *count < 0 || *count > *size) return Failure(call, CostStatus::kBadShapes);
  const Quantity rows =
      *size == 0 ? Quantity(0) : Elements(x).DividedUp(static_cast<uint64_t>(*size));
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .PerElement(Elements(x))
      .Write(rows * *count, x.type)
      .Write(rows * *count, kInt64)
      .Finish();
}

// Sums of rows of tables: bags of PyTorch, and the batched tables of FBGEMM.

namespace {

constexpr int64_t kMean = 1;  // of the modes sum, mean, maximum

// One less if the end of the last bag is an offset too.
Quantity BagsOf(const OpTensor& offsets, bool has_end) {
  const int64_t count = offsets.rank() == 1 ? offsets.dims[0] : 0;
  return has_end && count > 0 ? count - 1 : count;
}

}  // namespace

// (weight, indices, offsets, scale_grad, mode, sparse, weights of indices, has the end, padding).
// Two-dimensional indices have one bag in each row, and no offsets.
OpCost EmbeddingBag(const OpCall& call, const OpTensor& weight, const OpTensor& indices,
                    const OpTensor& offsets) {
  if (weight.rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const auto mode = call.args.Integer(4);
  if (!mode) return Failure(call, CostStatus::kNeedsValues);
  const OpTensor* factors = call.args.Tensor(6);
  const Quantity rows = Elements(indices) * weight.dims[1];
  const Quantity sums = BagsOf(offsets, call.args.Bool(7).value_or(false)) * weight.dims[1];
  return CostBuilder(call)
      .Type(weight.type)
      .Read(indices)
      .Read(offsets)
      .Read(factors)
      .Read(rows, weight.type)
      .Vector(rows * (factors == nullptr ? 1 : 2))
      .Vector(*mode == kMean ? sums : Quantity(0))
      .Write(sums, weight.type)
      .Finish();
}

// (dy [bags, d], indices, ..., rows of the table, ...): the gradient of the whole table is written.
OpCost EmbeddingBagBackward(const OpCall& call, const OpTensor& gradient, const OpTensor& indices) {
  const auto rows = call.args.Integer(5);
  if (!rows) return Failure(call, CostStatus::kNeedsValues);
  if (gradient.rank() != 2) return Failure(call, CostStatus::kBadShapes);
  return CostBuilder(call)
      .Type(gradient.type)
      .Read(gradient)
      .Read(indices)
      .Read(call.args.Tensor(2))  // the bag of each index
      .Vector(Elements(indices) * gradient.dims[1])
      .Write(Quantity(*rows) * gradient.dims[1], gradient.type)
      .Finish();
}

// FBGEMM: (weights, weights elsewhere, cache, places, begins of tables, D offsets, sum of D, most
// D, indices, offsets, ...). Which table an index belongs to is not recorded, so rows are taken to
// have the mean size.
OpCost BatchedTables(const OpCall& call, const OpTensor& weights, const OpTensor& sizes,
                     const OpTensor& indices, const OpTensor& offsets) {
  const auto total_size = call.args.Integer(6);
  if (!total_size) return Failure(call, CostStatus::kNeedsValues);
  const Quantity bags = BagsOf(offsets, true);
  const bool fits = sizes.rank() == 1 && sizes.dims[0] > 1 && *total_size > 0;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const auto tables = static_cast<uint64_t>(sizes.dims[0] - 1);
  const Quantity rows = (Elements(indices) * *total_size).DividedUp(tables);
  return CostBuilder(call)
      .Type(weights.type)
      .Read(indices)
      .Read(offsets)
      .Read(rows, weights.type)
      .Vector(rows)
      .Write((bags * *total_size).DividedUp(tables), ScalarType::kFloat32)
      .LowerBound()
      .Finish();
}

// Operators whose arguments do not say how many elements they use. What is certain is counted, and
// marked as a lower bound; or nothing is.

namespace {

using enum ScalarType;

// The steps of a binary search in `values` sorted values.
int64_t SearchSteps(int64_t values) {
  return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(values)));
}

}  // namespace

// Lengths or positions are in device memory, which is not recorded.
OpCost DependsOnData(const OpCall& call) { return Failure(call, CostStatus::kDependsOnData); }

// All of x is read; how much is found is unknown. variant: which tensor is read
OpCost LookThrough(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(call.model.variant);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  return CostBuilder(call).Type(x->type).Read(*x).PerElement(Elements(*x)).LowerBound().Finish();
}

// (x, indices, values, accumulate): every value is written to one place, or to more if broadcast; a
// single value to as many places as there are indices.
OpCost IndexPut(const OpCall& call, const OpTensor& x, const OpTensor& values) {
  constexpr size_t kValues = 2;
  const Quantity placed = Elements(values);
  if (placed == Quantity(1) && !(Elements(x) == Quantity(1))) {
    return Failure(call, CostStatus::kDependsOnData);
  }
  const bool adds = call.args.Bool(kValues + 1).value_or(false);
  CostBuilder cost(call);
  cost.Type(x.type).Read(values).Vector(adds ? placed : Quantity(0)).LowerBound();
  if (!call.is_in_place) return cost.Read(x).Write(x).Finish();
  return cost.Read(adds ? placed : Quantity(0), x.type).Write(placed, x.type).Finish();
}

// (sorted, x) or (x, sorted): finds the place of each element of x. variant: where x is
OpCost Search(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(call.model.variant);
  const OpTensor* sorted = call.args.Tensor(1 - call.model.variant);
  if (x == nullptr || sorted == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (sorted->rank() == 0) return Failure(call, CostStatus::kBadShapes);
  const bool is_short = call.args.Bool(2).value_or(false);
  const Quantity touched = Elements(*x) * SearchSteps(sorted->dims.back());
  const Quantity all = Elements(*sorted);
  return CostBuilder(call)
      .Type(x->type)
      .Read(*x)
      .Read(touched.value() < all.value() ? touched : all, sorted->type)
      .Write(Elements(*x), is_short ? kInt32 : kInt64)
      .Finish();
}

// (x, weights, least number of bins): the number of bins is the largest value of x.
OpCost BinCount(const OpCall& call, const OpTensor& x) {
  const OpTensor* weights = call.args.Tensor(1);
  const Quantity bins = std::max<int64_t>(0, call.args.Integer(2).value_or(0));
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .Read(weights)
      .PerElement(Elements(x))
      .Write(bins, weights == nullptr ? kInt64 : kFloat64)
      .LowerBound()
      .Finish();
}

// (x, number of bins, ...): a difference and a product find the bin of each element, and its count
// is increased
OpCost Histogram(const OpCall& call, const OpTensor& x) {
  const auto bins = call.args.Integer(1);
  if (!bins) return Failure(call, CostStatus::kNeedsValues);
  return CostBuilder(call)
      .Type(x.type)
      .Read(x)
      .PerElement(Elements(x))
      .Write(*bins, x.type)
      .Finish();
}

// Padding with elements from inside, windows as columns, and their gradients.

// (x, begin and end padding of the last dimension, of the second last dimension, ...)
OpCost PadByInside(const OpCall& call) {
  constexpr int64_t kMostPadding = int64_t{1} << 30;  // larger paddings are damaged
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
  return CostBuilder(call).Type(x->type).Read(*x).Write(Product(dims), x->type).Finish();
}

// (dy, x, ...): the gradient of x from that of the result. Gradients of padding are added.
OpCost GradientOfShape(const OpCall& call, const OpTensor& gradient, const OpTensor& x) {
  return CostBuilder(call)
      .Type(x.type)
      .Read(gradient)
      .PerElement(Elements(gradient))
      .Write(x)
      .Finish();
}

// (dy, output size, input size, ...): of interpolation.
OpCost UpsampleBackward(const OpCall& call, const OpTensor& gradient) {
  const auto dims = call.args.Integers(2);
  if (!dims) return Failure(call, CostStatus::kNeedsValues);
  return CostBuilder(call)
      .Type(gradient.type)
      .Read(gradient)
      .PerElement(Elements(gradient))
      .Write(Product(*dims), gradient.type)
      .Finish();
}

// Copies, casts, fills: no FLOPs, only bytes.

// (target, source): the stored elements of an expanded source are read once.
OpCost CopyInto(const OpCall& call, const OpTensor& target, const OpTensor& source) {
  return CostBuilder(call).Type(target.type).Read(source).Write(target).Finish();
}

// variant: the position of the number of the new type; 0: the type stays
OpCost CopyOf(const OpCall& call, const OpTensor& x) {
  const size_t type_at = call.model.variant;
  const auto number = type_at == 0 ? std::nullopt : call.args.Integer(type_at);
  const ScalarType type = number ? ScalarTypeOfNumber(*number) : x.type;
  return CostBuilder(call).Type(type).Read(x).Write(Elements(x), type).Finish();
}

OpCost Fill(const OpCall& call, const OpTensor& target) {
  return CostBuilder(call).Type(target.type).Write(target).Finish();
}

OpCost Concatenate(const OpCall& call) {
  const bool has_shapes = call.args.size() > 0 && !call.args[0].tensors.empty();
  if (!has_shapes) return Failure(call, CostStatus::kMissingShapes);
  const ScalarType type = call.options.list_type;
  CostBuilder cost(call);
  cost.Type(type);
  for (const OpTensor& tensor : call.args[0].tensors) {
    cost.Read(StoredElements(tensor), type).Write(Elements(tensor), type);
  }
  return cost.Finish();
}

}  // namespace borescope::internal::opmodel
