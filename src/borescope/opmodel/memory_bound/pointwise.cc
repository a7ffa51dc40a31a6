// Operators that compute every element of the result from the elements of the inputs at the same
// place. FLOPs per element are the row's; a value that is no tensor costs no bytes.
#include <algorithm>

#include "borescope/opmodel/cost_builder.h"
#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {
namespace {

using enum ScalarType;

ScalarType TypeOfValue(std::string_view value) {
  if (value.empty()) return kUnknown;
  if (value == "True" || value == "False") return kBool;
  const bool is_integer = value.find_first_not_of("-0123456789") == std::string_view::npos;
  return is_integer ? kInt64 : kFloat32;
}

// c10::result_type: a tensor with dimensions decides; one without, or a value, only raises the kind
// (bool, integer, float, complex).
ScalarType Raise(ScalarType type, ScalarType by) {
  if (type == kUnknown) return by;
  if (by == kUnknown || IsComplex(type)) return type;
  if (IsFloatingPoint(type) && !IsComplex(by)) return type;
  const bool is_higher = IsFloatingPoint(by) || IsComplex(by) || type == kBool;
  return is_higher ? Promote(type, by) : type;
}

// What the inputs of a call are together.
struct Inputs {
  std::vector<int64_t> shape;
  ScalarType with_dims = kUnknown, single = kUnknown, value = kUnknown;
  bool has_tensor = false, has_unknown_type = false;

  ScalarType type() const {
    return has_unknown_type ? kUnknown : Raise(with_dims, Raise(single, value));
  }
};

void Include(ScalarType type, ScalarType& into) {
  into = into == kUnknown ? type : Promote(into, type);
}

// False if the shapes do not fit.
bool AddInput(const OpTensor& tensor, Inputs& inputs) {
  auto shape = Broadcast(inputs.shape, tensor.dims);
  if (!shape) return false;
  inputs.shape = std::move(*shape);
  inputs.has_tensor = true;
  inputs.has_unknown_type |= tensor.type == kUnknown;
  Include(tensor.type, tensor.rank() == 0 ? inputs.single : inputs.with_dims);
  return true;
}

std::optional<Inputs> InputsOf(const OpCall& call, CostBuilder& cost) {
  Inputs inputs;
  for (size_t i = 0; i < call.model.inputs; ++i) {
    if (const OpTensor* tensor = call.args.Tensor(i)) {
      if (!AddInput(*tensor, inputs)) return std::nullopt;
      cost.Read(*tensor);
    } else if (const ScalarType type = TypeOfValue(call.args.Value(i)); type != kUnknown) {
      Include(type, inputs.value);
    }
  }
  return inputs;
}

const OpTensor* GivenOutput(const OpCall& call) {
  for (size_t i = call.model.inputs; i < call.args.size(); ++i) {
    if (const OpTensor* tensor = call.args.Tensor(i)) return tensor;
  }
  return nullptr;
}

ScalarType ResultOf(const OpCall& call, ScalarType inputs) {
  const OpTensor* first = call.args.Tensor(0);
  const bool is_first = call.is_in_place || call.model.result == ResultType::kFirst;
  if (is_first && first != nullptr) return first->type;
  if (const OpTensor* output = GivenOutput(call)) return output->type;
  if (call.model.result == ResultType::kBool) return kBool;
  const bool becomes_float = call.model.result == ResultType::kFloat && inputs != kUnknown &&
                             !IsFloatingPoint(inputs) && !IsComplex(inputs);
  return becomes_float ? kFloat32 : inputs;
}

}  // namespace

OpCost Pointwise(const OpCall& call) {
  CostBuilder cost(call);
  const auto inputs = InputsOf(call, cost);
  if (!inputs) return Failure(call, CostStatus::kBadShapes);
  if (!inputs->has_tensor) return Failure(call, CostStatus::kMissingShapes);
  const Quantity elements = Product(inputs->shape);
  const ScalarType type = inputs->type();
  return cost.Type(type).PerElement(elements).Write(elements, ResultOf(call, type)).Finish();
}

// The last dimension, or the one that is named, holds two halves: a * f(b).
OpCost GatedHalf(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(call.model.variant);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  const Quantity half = Elements(*x).DividedUp(2);
  CostBuilder cost(call);
  return cost.Type(x->type).Read(*x).PerElement(half).Write(half, x->type).Finish();
}

OpCost GatedHalfBackward(const OpCall& call) {
  const OpTensor* gradient = call.args.Tensor(0);
  const OpTensor* x = call.args.Tensor(1);
  if (gradient == nullptr || x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*gradient)
      .Read(*x)
      .PerElement(Elements(*gradient))
      .Write(*x)
      .Finish();
}

OpCost Dropout(const OpCall& call) {
  const OpTensor* x = call.args.Tensor(0);
  if (x == nullptr) return Failure(call, CostStatus::kMissingShapes);
  CostBuilder cost(call);
  return cost.Type(x->type)
      .Read(*x)
      .PerElement(Elements(*x))
      .Write(*x)
      .Write(Elements(*x), kBool)
      .Finish();
}

}  // namespace borescope::internal::opmodel
