#include "borescope/opmodel/cost_builder.h"

#include <algorithm>
#include <limits>

namespace borescope::internal::opmodel {
namespace {

constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();

bool IsTooLarge(Quantity a, Quantity b) { return (a + b).value() > kMost; }

Quantity FlopsPerMultiplyAdd(ScalarType type) { return IsComplex(type) ? 8 : 2; }

}  // namespace

Quantity Product(Dims dims) {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  Quantity product = 1;
  for (const int64_t dim : dims) {
    product *= dim;
  }
  return product;
}

Quantity StoredElements(const OpTensor& tensor) {
  std::vector<int64_t> dims = tensor.dims;
  for (size_t i = 0; i < tensor.strides.size(); ++i) {
    if (tensor.strides[i] == 0 && dims[i] > 1) {
      dims[i] = 1;
    }
  }
  return Product(dims);
}

std::optional<std::vector<int64_t>> Broadcast(Dims a, Dims b) {
  if (a.size() < b.size()) return Broadcast(b, a);
  std::vector<int64_t> shape(a.begin(), a.end());
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& mine = shape[a.size() - b.size() + i];
    if (mine != b[i] && mine != 1 && b[i] != 1) return std::nullopt;
    mine = mine == 1 ? b[i] : mine;
  }
  return shape;
}

OpCost Failure(const OpCall& call, CostStatus status) {
  OpCost cost;
  cost.status = status;
  cost.family = call.model.family;
  cost.direction = call.model.direction;
  cost.is_composite = call.model.is_composite;
  return cost;
}

CostBuilder::CostBuilder(const OpCall& call) : call_(call), cost_(Failure(call, CostStatus::kOk)) {}

CostBuilder& CostBuilder::MultiplyAdds(Quantity count, ScalarType type) {
  matrix_ += count * FlopsPerMultiplyAdd(type);
  return Type(type);
}

CostBuilder& CostBuilder::Vector(Quantity flops) {
  vector_ += flops;
  return *this;
}

CostBuilder& CostBuilder::PerElement(Quantity elements) {
  return Vector(elements * call_.model.arithmetic)
      .Transcendental(elements * call_.model.transcendental);
}

CostBuilder& CostBuilder::Transcendental(Quantity count) {
  return Vector(count * call_.options.transcendental_flops);
}

CostBuilder& CostBuilder::Read(const OpTensor& tensor) {
  return Read(StoredElements(tensor), tensor.type);
}

CostBuilder& CostBuilder::Read(const OpTensor* tensor) {
  return tensor == nullptr ? *this : Read(*tensor);
}

CostBuilder& CostBuilder::Read(Quantity elements, ScalarType type) {
  read_ += Bytes(elements, type);
  return *this;
}

CostBuilder& CostBuilder::Write(const OpTensor& tensor) {
  return Write(Elements(tensor), tensor.type);
}

CostBuilder& CostBuilder::Write(Quantity elements, ScalarType type) {
  written_ += Bytes(elements, type);
  return *this;
}

CostBuilder& CostBuilder::Type(ScalarType type) {
  cost_.type = type;
  return *this;
}

CostBuilder& CostBuilder::LowerBound() {
  cost_.is_lower_bound = true;
  return *this;
}

CostBuilder& CostBuilder::InputGradient(Quantity multiply_adds) {
  input_gradient_ += multiply_adds * FlopsPerMultiplyAdd(cost_.type);
  return *this;
}

CostBuilder& CostBuilder::WeightGradient(Quantity multiply_adds) {
  weight_gradient_ += multiply_adds * FlopsPerMultiplyAdd(cost_.type);
  return *this;
}

Quantity CostBuilder::Bytes(Quantity elements, ScalarType type) {
  constexpr uint64_t kBitsPerByte = 8;
  has_unknown_type_ |= type == ScalarType::kUnknown && elements != Quantity(0);
  return (elements * BitsPerElement(type)).DividedUp(kBitsPerByte);
}

OpCost CostBuilder::Finish() const {
  if (IsTooLarge(matrix_, vector_) || IsTooLarge(read_, written_)) {
    return Failure(call_, CostStatus::kOverflow);
  }
  OpCost cost = cost_;
  cost.matrix_flops = matrix_.value();
  cost.vector_flops = vector_.value();
  cost.input_gradient_flops = input_gradient_.value();
  cost.weight_gradient_flops = weight_gradient_.value();
  if (has_unknown_type_) {
    cost.status = CostStatus::kUnknownType;
    return cost;
  }
  cost.read_bytes = read_.value();
  cost.written_bytes = written_.value();
  return cost;
}

OpCost CostBuilder::FinishBytes() const {
  OpCost cost = Finish();
  if (cost.status == CostStatus::kOk) {
    cost.status = CostStatus::kBytesOnly;
  }
  return cost;
}

}  // namespace borescope::internal::opmodel
