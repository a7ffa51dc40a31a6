// Which calls of CUDA are recorded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/options.h"

namespace borescope::inject::cuda {

// The calls of the driver that are recorded: those that launch device work. What the runtime calls
// of the driver besides is left out.
inline constexpr size_t kDriverCallCount = 12;
extern const uint32_t kDriverCalls[kDriverCallCount];

bool IsWantedRuntimeCall(uint32_t callback, const Options& options);
bool IsWantedDriverCall(uint32_t callback, const Options& options);

}  // namespace borescope::inject::cuda
