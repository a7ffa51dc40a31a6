// Operators on lists of tensors: updates of all parameters in one call, and the lists' arithmetic
// that updates are made of. Types of tensors in lists are not recorded; OpModelOptions::list_type.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

bool IsList(const CallArgs& args, size_t index) {
  return index < args.size() && !args[index].tensors.empty();
}

Quantity ElementsOf(const CallArg& list) {
  Quantity elements = 0;
  for (const OpTensor& tensor : list.tensors) {
    elements += Elements(tensor);
  }
  return elements;
}

void ReadList(const CallArg& list, ScalarType type, CostBuilder& cost) {
  for (const OpTensor& tensor : list.tensors) {
    cost.Read(StoredElements(tensor), tensor.type == ScalarType::kUnknown ? type : tensor.type);
  }
}

}  // namespace

// Lists of the leading arguments are read, from the variant-th on; the first one's shapes are
// written.
OpCost ForEach(const OpCall& call) {
  if (!IsList(call.args, 0)) return Failure(call, CostStatus::kMissingShapes);
  const ScalarType type = call.options.list_type;
  const Quantity elements = ElementsOf(call.args[0]);
  CostBuilder cost(call);
  for (size_t i = call.model.variant; i < std::min<size_t>(call.model.inputs, call.args.size());
       ++i) {
    ReadList(call.args[i], type, cost);
  }
  return cost.Type(type).PerElement(elements).Write(elements, type).Finish();
}

// One norm per tensor of the list.
OpCost ForEachNorm(const OpCall& call) {
  if (!IsList(call.args, 0)) return Failure(call, CostStatus::kMissingShapes);
  const ScalarType type = call.options.list_type;
  const Quantity norms = call.args[0].tensors.size();
  CostBuilder cost(call);
  ReadList(call.args[0], type, cost);
  return cost.Type(type)
      .PerElement(ElementsOf(call.args[0]))
      .Transcendental(norms)
      .Write(norms, type)
      .Finish();
}

// (parameters, gradients, state, state, ...): all are read; all but the gradients are written.
// Lists that the options leave out are empty.
OpCost FusedUpdate(const OpCall& call) {
  if (!IsList(call.args, 0)) return Failure(call, CostStatus::kMissingShapes);
  const ScalarType type = call.options.list_type;
  CostBuilder cost(call);
  for (size_t i = 0; i < std::min<size_t>(call.model.inputs, call.args.size()); ++i) {
    ReadList(call.args[i], type, cost);
    if (i != 1) {
      cost.Write(ElementsOf(call.args[i]), type);
    }
  }
  return cost.Type(type).PerElement(ElementsOf(call.args[0])).Finish();
}

}  // namespace borescope::internal::opmodel
