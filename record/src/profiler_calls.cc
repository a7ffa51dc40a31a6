// cudaProfilerStart, cudaProfilerStop and similar functions, which a preloaded library takes the
// place of: they start and stop recording where the launcher asked for it. Each call goes on to the
// library that the program brings. A runtime that is linked statically is seen by CUPTI alone.
#include "core/next_function.h"
#include "core/rules.h"
#include "core/state.h"

namespace borescope::inject {

namespace {

int CallNext(const char* part, const char* name) {
  void* function = FindNextFunction(part, name);
  return function == nullptr ? 0 : reinterpret_cast<int (*)()>(function)();
}

// Recording begins after the call that starts it, and ends before the one that stops it.
int PassStart(const char* part, const char* name) {
  const int result = CallNext(part, name);
  if (IsEnabled()) ProfilerStarts();
  return result;
}

int PassStop(const char* part, const char* name) {
  if (IsEnabled()) ProfilerStops();
  return CallNext(part, name);
}

constexpr char kRuntime[] = "/libcudart.so";
constexpr char kDriver[] = "/libcuda.so";
constexpr char kHip[] = "/libamdhip64.so";

}  // namespace

}  // namespace borescope::inject

using namespace borescope::inject;

extern "C" {

#define BORESCOPE_EXPORT __attribute__((visibility("default")))

BORESCOPE_EXPORT int cudaProfilerStart() { return PassStart(kRuntime, "cudaProfilerStart"); }
BORESCOPE_EXPORT int cudaProfilerStop() { return PassStop(kRuntime, "cudaProfilerStop"); }
BORESCOPE_EXPORT int cuProfilerStart() { return PassStart(kDriver, "cuProfilerStart"); }
BORESCOPE_EXPORT int cuProfilerStop() { return PassStop(kDriver, "cuProfilerStop"); }
BORESCOPE_EXPORT int hipProfilerStart() { return PassStart(kHip, "hipProfilerStart"); }
BORESCOPE_EXPORT int hipProfilerStop() { return PassStop(kHip, "hipProfilerStop"); }

}  // extern "C"
