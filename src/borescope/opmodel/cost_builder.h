// What every model needs: sizes of tensors, and a sum of FLOPs and bytes that ends as an OpCost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "borescope/opmodel/op_model.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal::opmodel {

using Dims = std::span<const int64_t>;

Quantity Product(Dims dims);
inline Quantity Elements(const OpTensor& tensor) { return Product(tensor.dims); }

// The number of elements in memory: a dimension of stride 0 repeats one element.
Quantity StoredElements(const OpTensor& tensor);

// The shape that both broadcast to, or nullopt if they do not fit.
std::optional<std::vector<int64_t>> Broadcast(Dims a, Dims b);

// Everything but the last `count` dimensions. REQUIRES: count <= dims.size()
inline Dims Leading(Dims dims, size_t count) { return dims.first(dims.size() - count); }

// The cost of a call that cannot be computed.
OpCost Failure(const OpCall& call, CostStatus status);

class CostBuilder {
 public:
  explicit CostBuilder(const OpCall& call);

  // A product of matrices of `type`: 2 per multiply-add, 8 of complex numbers.
  CostBuilder& MultiplyAdds(Quantity count, ScalarType type);
  CostBuilder& Vector(Quantity flops);
  // Adds the FLOPs per element of the call's row.
  CostBuilder& PerElement(Quantity elements);
  CostBuilder& Transcendental(Quantity count);
  CostBuilder& Read(const OpTensor& tensor);  // its stored elements
  CostBuilder& Read(const OpTensor* tensor);  // nullptr: nothing
  CostBuilder& Read(Quantity elements, ScalarType type);
  CostBuilder& Write(const OpTensor& tensor);
  CostBuilder& Write(Quantity elements, ScalarType type);
  CostBuilder& Type(ScalarType type);
  CostBuilder& LowerBound();
  // The part of MultiplyAdds for the gradient of the input.
  CostBuilder& InputGradient(Quantity multiply_adds);
  CostBuilder& WeightGradient(Quantity multiply_adds);

  OpCost Finish() const;
  OpCost FinishBytes() const;  // for calls whose FLOPs are not known

  ScalarType type() const { return cost_.type; }

 private:
  Quantity Bytes(Quantity elements, ScalarType type);

  OpCall call_;
  OpCost cost_;
  Quantity matrix_, vector_, read_, written_, input_gradient_, weight_gradient_;
  bool has_unknown_type_ = false;
};

}  // namespace borescope::internal::opmodel
