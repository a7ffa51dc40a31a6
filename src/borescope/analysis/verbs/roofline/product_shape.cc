#include "borescope/analysis/verbs/roofline/product_shape.h"

#include <span>
#include <vector>

#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {
namespace {

std::vector<const OpTensor*> FactorsOf(const CallArgs& args) {
  std::vector<const OpTensor*> factors;
  for (size_t i = 0; i < args.size(); ++i) {
    const OpTensor* tensor = args.Tensor(i);
    if (tensor != nullptr && tensor->rank() >= 2) factors.push_back(tensor);
  }
  return factors;
}

Quantity SizeOf(std::span<const int64_t> dims) {
  Quantity size = 1;
  for (const int64_t dim : dims) size *= dim;
  return size;
}

// Below the last two dimensions.
Quantity BatchOf(const OpTensor& tensor) {
  return SizeOf(std::span(tensor.dims).first(tensor.rank() - 2));
}

// One matrix b for all of a, else one for each. Sizes too large to count are no shape.
std::optional<ProductShape> Multiplied(const OpTensor& a, const OpTensor& b, bool is_transposed) {
  const int64_t k = a.dims.back();
  const int64_t of_b = b.dims[b.rank() - (is_transposed ? 1 : 2)];
  const bool is_one = b.rank() == 2;
  if (of_b != k || (!is_one && BatchOf(a) != BatchOf(b))) return std::nullopt;
  const Quantity batch = is_one ? Quantity(1) : BatchOf(a);
  const Quantity m =
      is_one ? SizeOf(std::span(a.dims).first(a.rank() - 1)) : Quantity(a.dims[a.rank() - 2]);
  if (batch.is_overflow() || m.is_overflow()) return std::nullopt;
  return ProductShape{static_cast<int64_t>(batch.value()), static_cast<int64_t>(m.value()),
                      b.dims[b.rank() - (is_transposed ? 2 : 1)], k};
}

bool IsOf(const ProductShape& shape, const OpCost& cost) {
  const Quantity flops =
      Quantity(shape.batch) * shape.m * shape.n * shape.k * (IsComplex(cost.type) ? 8 : 2);
  return !flops.is_overflow() && flops.value() == cost.matrix_flops;
}

}  // namespace

std::optional<ProductShape> ProductShapeOf(const CallArgs& args, const OpCost& cost) {
  const std::vector<const OpTensor*> factors = FactorsOf(args);
  for (size_t i = 0; i + 1 < factors.size(); ++i) {
    for (const bool is_transposed : {false, true}) {
      const std::optional<ProductShape> shape =
          Multiplied(*factors[i], *factors[i + 1], is_transposed);
      if (shape.has_value() && IsOf(*shape, cost)) return shape;
    }
  }
  return std::nullopt;
}

}  // namespace borescope::internal
