// The types of tensors in lists, which producers do not record, by the kernels that worked on them.
#pragma once

#include <string_view>

#include "borescope/opmodel/values/scalar_type.h"

namespace borescope::internal {

// What the template arguments of a kernel of PyTorch on lists (multi_tensor_apply_kernel,
// CatArrayBatchedCopy) or the name of a reduction of NCCL or RCCL say; kUnknown if nothing. Kernels
// that only move data know but the size of an element: kOpaque8 to kOpaque128.
ScalarType ListTypeOfKernel(std::string_view kernel);

}  // namespace borescope::internal
