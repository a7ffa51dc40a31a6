// Factorisations of matrices, solving with them, and Fourier transforms. FLOPs are those of the
// classical algorithms. They count as vector FLOPs, as libraries do only parts of them on matrix
// units.
#include <algorithm>
#include <cmath>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

namespace {

// A batch of matrices.
struct Matrices {
  Quantity count = 1;
  int64_t rows = 0, columns = 0;
};

std::optional<Matrices> MatricesOf(const OpTensor& tensor) {
  if (tensor.rank() < 2) return std::nullopt;
  return Matrices{Product(Leading(tensor.dims, 2)), tensor.dims[tensor.rank() - 2],
                  tensor.dims.back()};
}

// short^2 (3 long - short) / 3 by Gauss; twice as many by Householder
Quantity EliminationFlops(int64_t rows, int64_t columns, uint64_t factor) {
  const Quantity less = std::min(rows, columns);
  const Quantity more = std::max(rows, columns);
  return (less * less * (more * 3 - less) * factor).DividedUp(3);
}

}  // namespace

// n^3 / 3 of a square
OpCost Cholesky(const OpCall& call, const OpTensor& a) {
  const auto matrices = MatricesOf(a);
  const bool is_square = matrices && matrices->rows == matrices->columns;
  if (!is_square) return Failure(call, CostStatus::kBadShapes);
  const Quantity n = matrices->rows;
  return CostBuilder(call)
      .Type(a.type)
      .Read(a)
      .Vector((matrices->count * n * n * n).DividedUp(3))
      .Write(a)
      .Finish();
}

OpCost LuFactors(const OpCall& call, const OpTensor& a) {
  const auto matrices = MatricesOf(a);
  if (!matrices) return Failure(call, CostStatus::kBadShapes);
  const int64_t pivots = std::min(matrices->rows, matrices->columns);
  return CostBuilder(call)
      .Type(a.type)
      .Read(a)
      .Vector(matrices->count * EliminationFlops(matrices->rows, matrices->columns, 1))
      .Write(a)
      .Write(matrices->count * pivots, ScalarType::kInt32)
      .Finish();
}

// Q and R. Whether Q was requested is not recorded, so the FLOPs are those of R.
OpCost QrFactors(const OpCall& call, const OpTensor& a) {
  const auto matrices = MatricesOf(a);
  if (!matrices) return Failure(call, CostStatus::kBadShapes);
  const int64_t rank = std::min(matrices->rows, matrices->columns);
  return CostBuilder(call)
      .Type(a.type)
      .Read(a)
      .Vector(matrices->count * EliminationFlops(matrices->rows, matrices->columns, 2))
      .Write(matrices->count * rank * matrices->rows, a.type)
      .Write(matrices->count * rank * matrices->columns, a.type)
      .LowerBound()
      .Finish();
}

// n^2 FLOPs for every column of the right side and triangle, whose number is in the row of the
// table.
OpCost SolveTriangles(const OpCall& call) {
  const bool is_b_first = call.model.variant == kSolveRightSideFirst;
  const size_t b_at = call.model.variant == kSolveWithPivots ? 2 : 1;
  const OpTensor* a = call.args.Tensor(is_b_first ? 1 : 0);
  const OpTensor* b = call.args.Tensor(is_b_first ? 0 : b_at);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto matrices = MatricesOf(*a);
  if (!matrices || matrices->rows != matrices->columns || b->rank() < 2) {
    return Failure(call, CostStatus::kBadShapes);
  }
  return CostBuilder(call)
      .Type(a->type)
      .Read(*a)
      .Read(*b)
      .Vector(Elements(*b) * matrices->rows * call.model.arithmetic)
      .Write(*b)
      .Finish();
}

// Fourier transforms: 5 n log2(n) FLOPs of n complex numbers, half as many of real ones.

namespace {

constexpr int64_t kMostSize = int64_t{1} << 40;  // larger sizes are damaged

// The sizes of the dimensions that a transform names; nullopt if x does not have them.
std::optional<std::vector<int64_t*>> SizesAt(std::vector<int64_t>& dims,
                                             const std::vector<int64_t>& named) {
  const auto rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t*> sizes;
  sizes.reserve(named.size());
  for (int64_t dim : named) {
    dim = dim < 0 && dim >= -rank ? dim + rank : dim;
    if (dim < 0 || dim >= rank) return std::nullopt;
    sizes.push_back(&dims[static_cast<size_t>(dim)]);
  }
  return sizes;
}

// `half_steps` / 2 per element and doubling of the size
Quantity TransformFlops(Quantity elements, Quantity size, int half_steps) {
  if (elements.is_overflow() || elements.value() > kMostSize) return -1;
  if (size.is_overflow() || size.value() < 2) return 0;
  const double doublings = std::log2(static_cast<double>(size.value()));
  const double flops = static_cast<double>(elements.value()) * doublings * half_steps / 2;
  return static_cast<uint64_t>(std::llround(flops));
}

ScalarType ComplexOf(ScalarType real) {
  if (real == ScalarType::kFloat64) return ScalarType::kComplex128;
  if (real == ScalarType::kFloat16) return ScalarType::kComplex32;
  return real == ScalarType::kFloat32 ? ScalarType::kComplex64 : ScalarType::kUnknown;
}

ScalarType RealOf(ScalarType complex) {
  if (complex == ScalarType::kComplex128) return ScalarType::kFloat64;
  if (complex == ScalarType::kComplex32) return ScalarType::kFloat16;
  return complex == ScalarType::kComplex64 ? ScalarType::kFloat32 : ScalarType::kUnknown;
}

}  // namespace

// (x, dimensions, normalisation, ...). Half of the result is stored for real numbers, unless all
// was requested; for transforms to real numbers argument 3 is the last size.
OpCost FourierTransform(const OpCall& call, const OpTensor& x) {
  constexpr int kComplexHalfSteps = 10;
  constexpr int kRealHalfSteps = 5;
  const auto named = call.args.Integers(1);
  if (!named || named->empty()) return Failure(call, CostStatus::kNeedsValues);
  std::vector<int64_t> result = x.dims;
  const auto sizes = SizesAt(result, *named);
  if (!sizes) return Failure(call, CostStatus::kBadShapes);
  int64_t& last = *sizes->back();
  const bool to_real = call.model.variant == kTransformToReal;
  if (to_real) last = call.args.Integer(3).value_or(-1);
  if (last < 0) return Failure(call, CostStatus::kNeedsValues);
  Quantity size = 1;
  for (const int64_t* one : *sizes) {
    size *= *one;
  }
  const bool is_complex = call.model.variant == kTransformComplex;
  const Quantity flops =
      TransformFlops(Product(result), size, is_complex ? kComplexHalfSteps : kRealHalfSteps);
  const bool is_halved = call.model.variant == kTransformOfReal && call.args.Bool(3).value_or(true);
  if (is_halved) last = last / 2 + 1;
  const ScalarType type = is_complex ? x.type : to_real ? RealOf(x.type) : ComplexOf(x.type);
  return CostBuilder(call).Type(x.type).Read(x).Vector(flops).Write(Product(result), type).Finish();
}

}  // namespace borescope::internal::opmodel
