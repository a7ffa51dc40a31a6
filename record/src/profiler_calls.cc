// cudaProfilerStart, cudaProfilerStop and similar functions, which a preloaded library takes the
// place of: they start and stop recording where the launcher asked for it. Each call goes on to the
// library that the program brings. A runtime that is linked statically is seen by CUPTI alone.
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "core/files.h"
#include "core/rules.h"
#include "core/state.h"

namespace borescope::inject {

namespace {

struct Library {
  const char* part;  // of its path
  const char* path;
};

int SeeLibrary(dl_phdr_info* info, size_t, void* data) {
  auto* library = static_cast<Library*>(data);
  if (info->dlpi_name == nullptr || strstr(info->dlpi_name, library->part) == nullptr) return 0;
  library->path = info->dlpi_name;
  return 1;
}

// The program's own function: what comes after us, or what a library has that was loaded for
// another library alone, as those of Python packages are.
void* FindNext(const char* part, const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  Library library = {part, nullptr};
  dl_iterate_phdr(SeeLibrary, &library);
  void* loaded = library.path == nullptr ? nullptr : dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD);
  return loaded == nullptr ? nullptr : dlsym(loaded, name);
}

int CallNext(const char* part, const char* name) {
  void* function = nullptr;
  {
    const QuietSection quiet;
    function = FindNext(part, name);
  }
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
