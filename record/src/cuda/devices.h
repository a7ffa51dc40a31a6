// What devices are called, in the log from their first use on: CUPTI says it at the end alone, and
// a program may be killed.
#pragma once

#include <cstdint>

namespace borescope::inject::cuda {

// Writes what the driver says about a device, once. On the flusher only.
void DescribeDevice(uint32_t device);

// Whether nothing was written about the device; something is from now on. On the flusher only.
bool BeginDescription(uint32_t device);

}  // namespace borescope::inject::cuda
