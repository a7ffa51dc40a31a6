// Which calls are recorded, by CUPTI's numbers for them.
#include "cuda/calls.h"

#include <cstddef>

namespace borescope::inject::cuda {

namespace {

// Calls that programs make all the time and that say nothing: cudaGetLastError,
// cudaPeekAtLastError, cudaGetDevice.
constexpr uint32_t kIdleRuntimeCalls[] = {10, 11, 17};

// Launches of kernels and graphs, copies and sets, in the order of their numbers.
constexpr uint32_t kLaunchRuntimeCalls[] = {
    31,  32,  33,  34,  35,  36,  37,  38,  39,  40,  41,  42,  43,  44,  45,  46,
    47,  48,  49,  50,  51,  52,  142, 143, 144, 145, 160, 161, 162, 163, 211, 214,
    269, 270, 311, 312, 430, 431, 482, 484, 505, 506, 509, 511, 554, 556};

template <size_t N>
bool Contains(const uint32_t (&numbers)[N], uint32_t number) {
  for (const uint32_t each : numbers) {
    if (each == number) return true;
  }
  return false;
}

}  // namespace

// cuLaunchKernel, cuLaunchCooperativeKernel, cuGraphLaunch and cuLaunchKernelEx, each also for the
// per-thread default stream; asynchronous copies.
const uint32_t kDriverCalls[kDriverCallCount] = {307, 442, 477, 478, 514, 515,
                                                 652, 653, 277, 279, 281, 306};

bool IsWantedRuntimeCall(uint32_t callback, const Options& options) {
  if (options.api == ApiCalls::kNone || SkippedCalls::Has(options.skipped.runtime, callback)) {
    return false;
  }
  if (options.api == ApiCalls::kLaunch) return Contains(kLaunchRuntimeCalls, callback);
  return !Contains(kIdleRuntimeCalls, callback);
}

bool IsWantedDriverCall(uint32_t callback, const Options& options) {
  return options.api != ApiCalls::kNone && Contains(kDriverCalls, callback) &&
         !SkippedCalls::Has(options.skipped.driver, callback);
}

}  // namespace borescope::inject::cuda
