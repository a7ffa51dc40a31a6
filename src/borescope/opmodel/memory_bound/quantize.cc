// Numbers of few bits: what turns values into them and back. A cast is no FLOP; scaling, rounding
// and the zero point are one each.
#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

// (x, scale, zero point, ..., type); scale and zero point may be tensors. variant: where the number
// of the type is
OpCost Quantize(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const auto number = call.args.Integer(call.model.variant);
  if (!number) return Failure(call, CostStatus::kNeedsValues);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Read(call.args.Tensor(1))
      .Read(call.args.Tensor(2))
      .PerElement(Elements(*x))
      .Write(Elements(*x), ScalarTypeOfNumber(*number))
      .Finish();
}

OpCost Dequantize(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .PerElement(Elements(*x))
      .Write(Elements(*x), ScalarType::kFloat32)
      .Finish();
}

// Quantized and back, with a mask of what was not clamped.
OpCost FakeQuantize(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .Read(call.args.Tensor(1))
      .Read(call.args.Tensor(2))
      .PerElement(Elements(*x))
      .Write(*x)
      .Write(Elements(*x), ScalarType::kBool)
      .Finish();
}

// (x, ...) -> (x in 8 bits, scales). variant: Float8Scales
OpCost QuantizeToFloat8(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (x->rank() == 0) return Failure(call, CostStatus::kBadShapes);
  const bool is_per_row = call.model.variant == kScalePerRow;
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .PerElement(Elements(*x))
      .Write(Elements(*x), ScalarType::kFloat8E4M3)
      .Write(is_per_row ? Product(Leading(x->dims, 1)) : Quantity(1), ScalarType::kFloat32)
      .Finish();
}

}  // namespace borescope::internal::opmodel
