// Factorisations of matrices, and what is solved with them. FLOPs are those of the classical
// algorithms; libraries do parts of them on matrix units, which is why they count as vector FLOPs.
#include <algorithm>

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
OpCost Cholesky(const OpCall& call) {
  const OpTensor* a = call.args.Tensor(0);
  if (a == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto matrices = MatricesOf(*a);
  const bool is_square = matrices && matrices->rows == matrices->columns;
  if (!is_square) return Failure(call, CostStatus::kBadShapes);
  const Quantity n = matrices->rows;
  CostBuilder cost(call);
  return cost.Type(a->type)
      .Read(*a)
      .Vector((matrices->count * n * n * n).DividedUp(3))
      .Write(*a)
      .Finish();
}

OpCost LuFactors(const OpCall& call) {
  const OpTensor* a = call.args.Tensor(0);
  if (a == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto matrices = MatricesOf(*a);
  if (!matrices) return Failure(call, CostStatus::kBadShapes);
  const int64_t pivots = std::min(matrices->rows, matrices->columns);
  CostBuilder cost(call);
  return cost.Type(a->type)
      .Read(*a)
      .Vector(matrices->count * EliminationFlops(matrices->rows, matrices->columns, 1))
      .Write(*a)
      .Write(matrices->count * pivots, ScalarType::kInt32)
      .Finish();
}

// Q and R; that Q was asked for is not recorded: the FLOPs are those of R.
OpCost QrFactors(const OpCall& call) {
  const OpTensor* a = call.args.Tensor(0);
  if (a == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto matrices = MatricesOf(*a);
  if (!matrices) return Failure(call, CostStatus::kBadShapes);
  const int64_t rank = std::min(matrices->rows, matrices->columns);
  CostBuilder cost(call);
  return cost.Type(a->type)
      .Read(*a)
      .Vector(matrices->count * EliminationFlops(matrices->rows, matrices->columns, 2))
      .Write(matrices->count * rank * matrices->rows, a->type)
      .Write(matrices->count * rank * matrices->columns, a->type)
      .LowerBound()
      .Finish();
}

// n^2 FLOPs for every column of the right side and triangle, of which the row says how many.
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
  CostBuilder cost(call);
  return cost.Type(a->type)
      .Read(*a)
      .Read(*b)
      .Vector(Elements(*b) * matrices->rows * call.model.arithmetic)
      .Write(*b)
      .Finish();
}

}  // namespace borescope::internal::opmodel
