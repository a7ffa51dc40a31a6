// FLOPs as PyTorch's profiler counts them where `with_flops=True` is given (computeFlops in
// torch/csrc/profiler/util.cpp): seven operators, by name, whatever they call.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

// 0 for all other operators, and where the arguments were not recorded or are not those of the
// operator. Traces do not hold PyTorch's own number.
int64_t ProfilerFlops(std::string_view op, const CallArgs& args);

// Whether ProfilerFlops knows `op`.
bool HasProfilerFlops(std::string_view op);

}  // namespace borescope::internal
