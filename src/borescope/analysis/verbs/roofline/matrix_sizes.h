// The sizes of a matrix operator as matrix units see them, by the arguments of its call.
#pragma once

#include <string_view>
#include <vector>

#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/opmodel/op_model.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

// m, n and k of a product, the channels of a convolution; empty where the arguments do not tell.
// `name` is that of the operator, whose model is of `family`.
std::vector<NamedSize> MatrixSizesOf(std::string_view name, OpFamily family, const CallArgs& args);

}  // namespace borescope::internal
