// Two functions of CUPTI, which a preloaded library takes the place of. Programs that look CUPTI up
// by themselves call it past us.
#include "cuda/other_profilers.h"

#include <dlfcn.h>

#include <atomic>

#include "core/files.h"
#include "core/next_function.h"
#include "core/state.h"
#include "cuda/abi.h"
#include "cuda/flusher.h"
#include "cuda/session.h"

namespace borescope::inject::cuda {

namespace {

__thread bool t_keeps_device __attribute__((tls_model("initial-exec")));
__thread bool t_has_kept __attribute__((tls_model("initial-exec")));
std::atomic<bool> goes_by_us;  // it has asked for something that we did not pass on

// The function that the caller would have got: of the CUPTI that its library is linked with, where
// the process has several.
void* FindFor(void* caller, const char* name, void* own) {
  const QuietSection quiet;
  Dl_info info;
  void* library = dladdr(caller, &info) == 0 || info.dli_fname == nullptr
                      ? nullptr
                      : dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* function = library == nullptr ? nullptr : dlsym(library, name);
  const bool is_found = function != nullptr && function != own;
  return is_found ? function : FindNextFunction("/libcupti.so", name);
}

// Whether the buffers stay ours.
bool KeepsBuffers() {
  if (!t_keeps_device) return false;
  t_has_kept = true;
  goes_by_us.store(true);
  return true;
}

}  // namespace

void KeepDevice() {
  t_keeps_device = true;
  t_has_kept = false;
  // What is in buffers when somebody takes them is lost.
  if (!goes_by_us.load()) FetchDevice();
}

// Whoever did not come by us may have taken the buffers.
void EndKeepingDevice() {
  t_keeps_device = false;
  if (!t_has_kept) TakeDeviceBack();
}

}  // namespace borescope::inject::cuda

using namespace borescope::inject;
using namespace borescope::inject::cuda;

extern "C" {

#define BORESCOPE_EXPORT __attribute__((visibility("default")))

BORESCOPE_EXPORT int cuptiActivityRegisterCallbacks(RequestFunction request,
                                                    CompleteFunction complete) {
  if (IsEnabled() && KeepsBuffers()) return kSuccess;
  auto* next = reinterpret_cast<int (*)(RequestFunction, CompleteFunction)>(
      FindFor(__builtin_return_address(0), "cuptiActivityRegisterCallbacks",
              reinterpret_cast<void*>(cuptiActivityRegisterCallbacks)));
  if (next == nullptr) return kNotInitialized;
  DeviceIsTaken();
  return next(request, complete);
}

// PyTorch's profiler sets a clock of its own besides.
BORESCOPE_EXPORT int cuptiActivityRegisterTimestampCallback(TimestampFunction now) {
  if (IsEnabled() && t_keeps_device) return kSuccess;
  auto* next = reinterpret_cast<int (*)(TimestampFunction)>(
      FindFor(__builtin_return_address(0), "cuptiActivityRegisterTimestampCallback",
              reinterpret_cast<void*>(cuptiActivityRegisterTimestampCallback)));
  return next == nullptr ? int{kNotInitialized} : next(now);
}

}  // extern "C"
