// Copies, casts, fills: no FLOPs, only bytes.
#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

// (target, source): what is stored of an expanded source is read once.
OpCost CopyInto(const OpCall& call) {
  const OpTensor* target = call.args.Tensor(0);
  const OpTensor* source = call.args.Tensor(1);
  if (target == nullptr || source == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(target->type).Read(*source).Write(*target).Finish();
}

// variant: where the number of the new type is; 0: the type stays
OpCost CopyOf(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const size_t type_at = call.model.variant;
  const auto number = type_at == 0 ? std::nullopt : call.args.Integer(type_at);
  const ScalarType type = number ? ScalarTypeOfNumber(*number) : x->type;
  CostBuilder cost(call);
  return cost.Type(type).Read(*x).Write(Elements(*x), type).Finish();
}

OpCost Fill(const OpCall& call) {
  const OpTensor* target = call.args.Tensor(0);
  if (target == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(target->type).Write(*target).Finish();
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
