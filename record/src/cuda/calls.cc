#include "cuda/calls.h"

#include "cuda/call_numbers.h"

namespace borescope::inject::cuda {

namespace {

constexpr CallSet WorkOfDriver() {
  CallSet calls(kDriverLaunches);
  calls.Add(kDriverOrders);
  return calls;
}

constexpr CallSet kIdle(kRuntimeIdle);
constexpr CallSet kLaunchesOfRuntime(kRuntimeLaunches);
constexpr CallSet kLaunchesOfDriver(kDriverLaunches);
constexpr CallSet kWorkOfDriver = WorkOfDriver();

}  // namespace

bool IsWantedRuntimeCall(uint32_t callback, const Options& options) {
  if (options.api == ApiCalls::kNone || SkippedCalls::Has(options.skipped.runtime, callback)) {
    return false;
  }
  return options.api == ApiCalls::kLaunch ? kLaunchesOfRuntime.Has(callback) : !kIdle.Has(callback);
}

bool IsWantedDriverCall(uint32_t callback, const Options& options) {
  if (options.api == ApiCalls::kNone || SkippedCalls::Has(options.skipped.driver, callback)) {
    return false;
  }
  return (options.api == ApiCalls::kLaunch ? kLaunchesOfDriver : kWorkOfDriver).Has(callback);
}

}  // namespace borescope::inject::cuda
