// m, n and k of a product of matrices, by the arguments of its call.
#pragma once

#include <cstdint>
#include <optional>

#include "borescope/opmodel/op_model.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

// `batch` products [m, k] x [k, n].
struct ProductShape {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

// The first two matrices in a row, of which the second may be transposed, that multiply to the
// FLOPs of the model; nothing if there are none, as for sparse or packed operands and for experts.
std::optional<ProductShape> ProductShapeOf(const CallArgs& args, const OpCost& cost);

}  // namespace borescope::internal
