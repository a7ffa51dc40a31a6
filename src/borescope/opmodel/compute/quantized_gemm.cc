// Products of quantized matrices, as libraries on top of PyTorch have them.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

// What is behind the operands: scales, zero points, bias.
void ReadRest(const OpCall& call, size_t first, CostBuilder& cost) {
  for (size_t i = first; i < call.args.size(); ++i) {
    cost.Read(call.args.Tensor(i));
  }
}

}  // namespace

// (result, a [m, k], b [k, n], scales, ..., bias)
OpCost ProductInto(const OpCall& call) {
  const OpTensor* result = call.args.Tensor(0);
  const OpTensor* a = call.args.Tensor(1);
  const OpTensor* b = call.args.Tensor(2);
  if (result == nullptr || a == nullptr || b == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const bool fits = a->rank() == 2 && b->rank() == 2 && a->dims[1] == b->dims[0];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  ReadRest(call, 3, cost);
  return cost.Read(*a)
      .Read(*b)
      .Write(*result)
      .MultiplyAdds(Quantity(a->dims[0]) * b->dims[1] * a->dims[1], a->type)
      .Finish();
}

// (x [..., k], w [n, k] or as many matrices, scales, ...); the number of the type of the result is
// variant.
OpCost QuantizedLinear(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* weight = call.args.Tensor(1);
  if (x == nullptr || weight == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool is_batched = weight->rank() == 3;
  const bool fits = x->rank() >= 2 && (weight->rank() == 2 || is_batched) &&
                    x->dims.back() == weight->dims.back() &&
                    (!is_batched || (x->rank() == 3 && x->dims[0] == weight->dims[0]));
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = opmodel::Product(Leading(x->dims, 1)) * weight->dims[weight->rank() - 2];
  CostBuilder cost(call);
  ReadRest(call, 2, cost);
  return cost.Read(*x)
      .Read(*weight)
      .Write(outputs, ScalarTypeOfNumber(call.model.variant))
      .MultiplyAdds(outputs * x->dims.back(), x->type)
      .Finish();
}

// (x [m, k], w of packed words, ...): n are the columns of the scales (AWQ) or of w (GPTQ).
// variant: where n is
OpCost PackedProduct(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  const OpTensor* columns = call.args.Tensor(call.model.variant);
  if (x == nullptr || columns == nullptr) return Failure(call, CostStatus::kMissingShapes);
  if (x->rank() != 2 || columns->rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(x->dims[0]) * columns->dims[1];
  CostBuilder cost(call);
  ReadRest(call, 1, cost);
  return cost.Read(*x).Write(outputs, x->type).MultiplyAdds(outputs * x->dims[1], x->type).Finish();
}

// Of Transformer Engine: (a, its scales, ..., whether it is transposed at 4, b at 5, ..., at 9, the
// result at 10, ..., bias at 14), in the order of columns: a of [k, m], transposed [m, k].
OpCost TransformerEngineProduct(const OpCall& call) {
  const OpTensor* a = call.args.Tensor(0);
  const OpTensor* b = call.args.Tensor(5);
  const OpTensor* result = call.args.Tensor(10);
  if (a == nullptr || b == nullptr || result == nullptr) {
    return Failure(call, CostStatus::kMissingShapes);
  }
  const auto is_transposed = call.args.Bool(4);
  if (!is_transposed) return Failure(call, CostStatus::kNeedsValues);
  if (a->rank() != 2 || b->rank() != 2) return Failure(call, CostStatus::kBadShapes);
  const int64_t k = a->dims[*is_transposed ? 1 : 0];
  if (b->dims[0] != k && b->dims[1] != k) return Failure(call, CostStatus::kBadShapes);
  CostBuilder cost(call);
  return cost.Read(*a)
      .Read(*b)
      .Write(*result)
      .MultiplyAdds(Elements(*result) * k, a->type)
      .Finish();
}

// (a, b, scales of a, ..., type): scales are in lists, whose types are not recorded: they count no
// bytes. variant: where the bias is, before the type
OpCost ProductScaledByLists(const OpCall& call) {
  const size_t bias_at = call.model.variant;
  const OpTensor* a = call.args.Tensor(0);
  const OpTensor* b = call.args.Tensor(1);
  if (a == nullptr || b == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const bool fits = a->rank() == 2 && b->rank() == 2 && a->dims[1] == b->dims[0];
  if (!fits) return Failure(call, CostStatus::kBadShapes);
  const Quantity outputs = Quantity(a->dims[0]) * b->dims[1];
  const auto number = call.args.Integer(bias_at + 1);
  const Quantity packed = a->type == ScalarType::kFloat4 ? 2 : 1;
  CostBuilder cost(call);
  if (const OpTensor* bias = call.args.Tensor(bias_at)) {
    cost.Vector(outputs).Read(*bias);
  }
  return cost.Read(*a)
      .Read(*b)
      .Write(outputs, number ? ScalarTypeOfNumber(*number) : a->type)
      .MultiplyAdds(outputs * a->dims[1] * packed, a->type)
      .Finish();
}

}  // namespace borescope::internal::opmodel
