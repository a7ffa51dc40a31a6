// A user's own device specification, the FILE of --device-spec: for devices that are not in the
// table, and for ceilings that were measured. One JSON object:
//
//   {
//     "name": "MI300X of our cluster",              required
//     "source": "vendor data sheet, 2023",          optional
//     "tflops": {"fp32": 163.4, "bf16_matrix": 1307.4},
//     "memory_gbps": 5300,
//     "memory_gb": 192,
//     "sparsity": 2,                                1 where not given
//     "measured": {"tflops": {"bf16_matrix": 708}, "memory_gbps": 4100}
//   }
//
// Keys of "tflops" are those of PeakName; rates are in 1e12 operations and 1e9 bytes per second,
// dense. What is left out is missing. Keys that are not listed here are errors, so that a slip of
// the pen does not go unnoticed.
#pragma once

#include <string_view>

#include "borescope/base/result.h"
#include "borescope/opmodel/devices/device_specs.h"

namespace borescope::internal {

// `file` stands in the messages of errors (kInvalidArgument) only.
Result<DeviceSpec> ParseDeviceSpec(std::string_view json, std::string_view file);

}  // namespace borescope::internal
