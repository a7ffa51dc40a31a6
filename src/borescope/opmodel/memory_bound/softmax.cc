// Softmax and losses. One pass over the data: kernels of several passes move more.
#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

constexpr int64_t kNoReduction = 0;  // of at::Reduction

// The number of targets, one for each row of scores.
const OpTensor* TargetsOf(const OpCall& call, size_t index) { return call.args.Tensor(index); }

}  // namespace

OpCost Softmax(const OpCall& call) {
  constexpr size_t kToFloat = 2;
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool to_float = call.args.Value(kToFloat) == "True";
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .PerElement(Elements(*x))
      .Write(Elements(*x), to_float ? ScalarType::kFloat32 : x->type)
      .Finish();
}

OpCost SoftmaxBackward(const OpCall& call) {
  constexpr size_t kInputType = 3;
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* output = call.args.Tensor(1);
  if (gradient == nullptr || output == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto number = call.args.Integer(kInputType);
  CostBuilder cost(call);
  return cost.Type(output->type)
      .Read(*gradient)
      .Read(*output)
      .PerElement(Elements(*output))
      .Write(Elements(*output), number ? ScalarTypeOfNumber(*number) : output->type)
      .Finish();
}

// Of every row one score is read, by its target.
OpCost NllLoss(const OpCall& call) {
  const OpTensor* scores = call.args.Tensor(0);
  const OpTensor* targets = TargetsOf(call, 1);
  if (scores == nullptr || targets == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool is_reduced = call.args.Integer(3).value_or(1) != kNoReduction;
  const Quantity rows = Elements(*targets);
  CostBuilder cost(call);
  return cost.Type(scores->type)
      .Read(rows, scores->type)
      .Read(*targets)
      .PerElement(rows)
      .Write(is_reduced ? Quantity(1) : rows, scores->type)
      .Write(1, scores->type)  // the total weight
      .Finish();
}

OpCost NllLossBackward(const OpCall& call) {
  const OpTensor* scores = call.args.Tensor(1);
  const OpTensor* targets = TargetsOf(call, 2);
  if (scores == nullptr || targets == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(scores->type)
      .Read(call.args.Tensor(0))
      .Read(*targets)
      .PerElement(Elements(*targets))
      .Write(*scores)
      .Finish();
}

// log_softmax and the pick of the targets' scores in one.
OpCost CrossEntropy(const OpCall& call) {
  const OpTensor* scores = call.args.Tensor(0);
  const OpTensor* targets = TargetsOf(call, 1);
  if (scores == nullptr || targets == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(scores->type)
      .Read(*scores)
      .Read(*targets)
      .PerElement(Elements(*scores))
      .Write(1, scores->type)
      .Finish();
}

// A loss of two tensors of one shape. variant: where the kind of reduction is
OpCost PairLoss(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* y = call.args.Tensor(1);
  if (x == nullptr || y == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto reduction = call.args.Integer(call.model.variant);
  if (!reduction) return Failure(call, CostStatus::kNeedsValues);
  const bool is_reduced = *reduction != kNoReduction;
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Read(*y)
      .PerElement(Elements(*x))
      .Write(is_reduced ? Quantity(1) : Elements(*x), x->type)
      .Finish();
}

OpCost PairLossBackward(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(1);
  const OpTensor* y = call.args.Tensor(2);
  if (x == nullptr || y == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(call.args.Tensor(0))
      .Read(*x)
      .Read(*y)
      .PerElement(Elements(*x))
      .Write(*x)
      .Finish();
}

}  // namespace borescope::internal::opmodel
