// The entry point that the CUDA driver calls, in cuInit, in the library of CUDA_INJECTION64_PATH.
// Nothing of CUPTI is called before: some versions crash on machines without a driver.
#include "core/state.h"
#include "cuda/flusher.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  using namespace borescope::inject;
  if (IsEnabled() && g_options.has_cuda) cuda::StartFlusher();
  return 1;
}
