// Names of the CUDA API functions that nvprof records as callback numbers.
#pragma once

#include <cstdint>
#include <string>

namespace borescope::internal {

// "cudaLaunchKernel" for 211; "cudaApi_9999" for a number that is not in the table.
std::string RuntimeApiName(int64_t callback);

// "cuLaunchKernel" for 307; "cuApi_9999" for a number that is not in the table.
std::string DriverApiName(int64_t callback);

}  // namespace borescope::internal
