// Normalisation: FLOPs per element of the row, and one reciprocal root per group of elements that
// is normalised together. Every input is read once; a kernel of two passes reads it twice.
#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

constexpr ScalarType kStatistics = ScalarType::kFloat32;

// Elements that share one mean; nothing if they are not recorded.
std::optional<Quantity> GroupSize(const OpCall& call, size_t shape_at, size_t weight_at) {
  if (const auto shape = call.args.Integers(shape_at)) return Product(*shape);
  if (const OpTensor* weight = call.args.Tensor(weight_at)) return Elements(*weight);
  return std::nullopt;
}

Quantity Groups(const OpTensor& x, Quantity group_size) {
  const Quantity elements = Elements(x);
  if (group_size == Quantity(0) || group_size.is_overflow()) return 0;
  return elements.DividedUp(group_size.value());
}

// The gradients of weight and bias.
void WriteParameters(const OpTensor* weight, CostBuilder& cost) {
  if (weight != nullptr) {
    cost.Write(*weight).Write(*weight);
  }
}

}  // namespace

OpCost LayerNorm(const OpCall& call) {
  constexpr size_t kShape = 1;
  constexpr size_t kWeight = 2;
  const bool is_rms = call.model.variant == kRmsNorm;
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto group = GroupSize(call, kShape, kWeight);
  if (!group) return Failure(call, CostStatus::kNeedsValues);
  const Quantity groups = Groups(*x, *group);
  const OpTensor* weight = call.args.Tensor(kWeight);
  const OpTensor* bias = is_rms ? nullptr : call.args.Tensor(kWeight + 1);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*x).Read(weight).Read(bias).PerElement(Elements(*x));
  cost.Vector(weight == nullptr ? Quantity(0) : Elements(*x));
  cost.Vector(bias == nullptr ? Quantity(0) : Elements(*x));
  return cost.Transcendental(groups)
      .Write(*x)
      .Write(is_rms ? groups : groups * 2, kStatistics)
      .Finish();
}

OpCost LayerNormBackward(const OpCall& call) {
  const bool is_rms = call.model.variant == kRmsNorm;
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* x = call.args.Tensor(1);
  if (gradient == nullptr || x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const OpTensor* weight = call.args.Tensor(is_rms ? 4 : 5);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*gradient).Read(*x).Read(call.args.Tensor(3)).Read(weight);
  if (is_rms) {
    cost.Write(weight == nullptr ? Quantity(0) : Elements(*weight), x->type);
  } else {
    cost.Read(call.args.Tensor(4));
    WriteParameters(weight, cost);
  }
  return cost.PerElement(Elements(*x)).Write(*x).Finish();
}

OpCost BatchNorm(const OpCall& call) {
  constexpr size_t kTraining = 5;
  constexpr int kEvalFlops = 2;
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (x->rank() < 2) return Failure(call, CostStatus::kBadShapes);
  const auto is_training = call.args.Bool(kTraining);
  if (!is_training) return Failure(call, CostStatus::kNeedsValues);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*x).Write(*x);
  for (size_t i = 1; i < kTraining; ++i) {
    cost.Read(call.args.Tensor(i));
  }
  if (!*is_training) return cost.Vector(Elements(*x) * kEvalFlops).Finish();
  for (const size_t running : {size_t{3}, size_t{4}}) {
    if (const OpTensor* statistic = call.args.Tensor(running)) {
      cost.Write(*statistic);
    }
  }
  const Quantity channels = x->dims[1];
  return cost.PerElement(Elements(*x))
      .Transcendental(channels)
      .Write(channels * 2, kStatistics)
      .Finish();
}

OpCost BatchNormBackward(const OpCall& call) {
  const OpTensor* a = call.args.Tensor(0);
  const OpTensor* b = call.args.Tensor(1);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const OpTensor* weight = call.args.Tensor(2);
  CostBuilder cost(call);
  cost.Type(a->type).Read(*a).Read(*b).Read(weight);
  cost.Read(call.args.Tensor(5)).Read(call.args.Tensor(6));
  WriteParameters(weight, cost);
  return cost.PerElement(Elements(*a)).Write(*a).Finish();
}

// variant: where the number of groups and the weight are
OpCost GroupNorm(const OpCall& call) {
  const bool is_native = call.model.variant == kNativeGroupNorm;
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto per_sample = call.args.Integer(is_native ? 6 : 1);
  if (!per_sample) return Failure(call, CostStatus::kNeedsValues);
  if (x->rank() < 2 || *per_sample < 1) return Failure(call, CostStatus::kBadShapes);
  const size_t weight_at = is_native ? 1 : 2;
  const Quantity groups = Quantity(x->dims[0]) * *per_sample;
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Read(call.args.Tensor(weight_at))
      .Read(call.args.Tensor(weight_at + 1))
      .PerElement(Elements(*x))
      .Transcendental(groups)
      .Write(*x)
      .Write(groups * 2, kStatistics)
      .Finish();
}

OpCost GroupNormBackward(const OpCall& call) {
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* x = call.args.Tensor(1);
  if (gradient == nullptr || x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const OpTensor* weight = call.args.Tensor(4);
  CostBuilder cost(call);
  cost.Type(x->type).Read(*gradient).Read(*x).Read(call.args.Tensor(2)).Read(call.args.Tensor(3));
  cost.Read(weight);
  WriteParameters(weight, cost);
  return cost.PerElement(Elements(*x)).Write(*x).Finish();
}

// vLLM's: (result, x, weight) or, with the addition of the residual in front, (x, residual, weight)
// which are both overwritten.
OpCost RmsNormInto(const OpCall& call) {
  const OpTensor* first = call.args.Tensor(0);
  const OpTensor* x = call.args.Tensor(1);
  const OpTensor* weight = call.args.Tensor(2);
  if (first == nullptr || x == nullptr || weight == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  CostBuilder cost(call);
  if (call.model.variant == kAddRmsNorm) {
    cost.Read(*first).Write(*x);
  }
  return cost.Type(x->type)
      .Read(*x)
      .Read(*weight)
      .PerElement(Elements(*x))
      .Transcendental(Groups(*x, Elements(*weight)))
      .Write(*first)
      .Finish();
}

}  // namespace borescope::internal::opmodel
