// Sums of rows of tables: bags of PyTorch, and the batched tables of FBGEMM.
#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

constexpr int64_t kMean = 1;  // of the modes sum, mean, maximum

// 1 less where the end of the last bag is an offset, too.
Quantity BagsOf(const OpTensor& offsets, bool has_end) {
  const int64_t count = offsets.rank() == 1 ? offsets.dims[0] : 0;
  return has_end && count > 0 ? count - 1 : count;
}

}  // namespace

// (weight, indices, offsets, scale_grad, mode, sparse, weights of indices, has the end, padding).
// Indices of one bag a row stand in two dimensions, without offsets.
OpCost EmbeddingBag(const OpCall& call) {
  const OpTensor* weight = call.args.Tensor(0);
  const OpTensor* indices = call.args.Tensor(1);
  const OpTensor* offsets = call.args.Tensor(2);
  if (weight == nullptr || indices == nullptr || offsets == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  if (weight->rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const auto mode = call.args.Integer(4);
  if (!mode) return Failure(call, CostStatus::kNeedsValues);
  const OpTensor* factors = call.args.Tensor(6);
  const Quantity rows = Elements(*indices) * weight->dims[1];
  const Quantity sums = BagsOf(*offsets, call.args.Bool(7).value_or(false)) * weight->dims[1];
  CostBuilder cost(call);
  return cost.Type(weight->type)
      .Read(*indices)
      .Read(*offsets)
      .Read(factors)
      .Read(rows, weight->type)
      .Vector(rows * (factors == nullptr ? 1 : 2))
      .Vector(*mode == kMean ? sums : Quantity(0))
      .Write(sums, weight->type)
      .Finish();
}

// (dy [bags, d], indices, ..., rows of the table, ...): the gradient of the whole table is written.
OpCost EmbeddingBagBackward(const OpCall& call) {
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* indices = call.args.Tensor(1);
  if (gradient == nullptr || indices == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto rows = call.args.Integer(5);
  if (!rows) return Failure(call, CostStatus::kNeedsValues);
  if (gradient->rank() != 2) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  return cost.Type(gradient->type)
      .Read(*gradient)
      .Read(*indices)
      .Read(call.args.Tensor(2))  // the bag of each index
      .Vector(Elements(*indices) * gradient->dims[1])
      .Write(Quantity(*rows) * gradient->dims[1], gradient->type)
      .Finish();
}

// FBGEMM: (weights, weights elsewhere, cache, places, where tables begin, D offsets, sum of D, most
// D, indices, offsets, ...). Which table an index belongs to is not recorded: its rows are taken to
// have the mean size.
OpCost BatchedTables(const OpCall& call) {
  const OpTensor* weights = call.args.Tensor(0);
  const OpTensor* sizes = call.args.Tensor(5);
  const OpTensor* indices = call.args.Tensor(8);
  const OpTensor* offsets = call.args.Tensor(9);
  if (weights == nullptr || sizes == nullptr || indices == nullptr || offsets == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const auto total_size = call.args.Integer(6);
  if (!total_size) return Failure(call, CostStatus::kNeedsValues);
  const Quantity bags = BagsOf(*offsets, true);
  const bool fits = sizes->rank() == 1 && sizes->dims[0] > 1 && *total_size > 0;
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const auto tables = static_cast<uint64_t>(sizes->dims[0] - 1);
  const Quantity rows = (Elements(*indices) * *total_size).DividedUp(tables);
  CostBuilder cost(call);
  return cost.Type(weights->type)
      .Read(*indices)
      .Read(*offsets)
      .Read(rows, weights->type)
      .Vector(rows)
      .Write((bags * *total_size).DividedUp(tables), ScalarType::kFloat32)
      .LowerBound()
      .Finish();
}

}  // namespace borescope::internal::opmodel
