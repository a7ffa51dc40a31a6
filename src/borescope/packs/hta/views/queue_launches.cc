#include "borescope/packs/hta/views/queue_launches.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {

bool IsHtaQueueLaunch(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaLaunchKernel",
                                         "cudaLaunchKernelExC",
                                         "cuLaunchKernel",
                                         "cuLaunchKernelEx",
                                         "cudaMemcpyAsync",
                                         "cudaMemsetAsync",
                                         "runFunction - job_prep_and_submit_for_execution",
                                         "hipLaunchKernel",
                                         "hipExtModuleLaunchKernel",
                                         "hipMemcpyAsync",
                                         "hipMemsetAsync",
                                         "hipMemcpyWithStream"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace borescope::internal
