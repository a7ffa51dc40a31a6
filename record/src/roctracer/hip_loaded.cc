// The moment at which HIP is there. Programs and libraries that were compiled for it register their
// kernels when they are loaded, before any of them runs; a preloaded library takes the place of the
// function that does so, and passes each call on.
#include <dlfcn.h>

#include "core/files.h"
#include "core/next_function.h"
#include "core/state.h"
#include "roctracer/library.h"
#include "roctracer/session.h"

namespace borescope::inject::roctracer {

namespace {

// After that of state.cc, which has a priority. Of a program that HIP is linked with, it has been
// initialised by now, and nothing of the program has run.
__attribute__((constructor)) void BeginWithLinkedHip() {
  if (IsEnabled() && g_options.has_rocm && IsHipLoaded()) BeginWithHip();
}

// What the caller would have called: of the libraries that it needs itself.
void* FindForCaller(void* caller, const char* name) {
  const QuietSection quiet;
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

// Without the function the program could not run, under whatever name its library is packed.
void* FindRegister(void* caller) {
  constexpr char kName[] = "__hipRegisterFatBinary";
  void* found = FindNextFunction("/libamdhip64", kName);
  return found != nullptr ? found : FindForCaller(caller, kName);
}

}  // namespace

}  // namespace borescope::inject::roctracer

extern "C" __attribute__((visibility("default"))) void** __hipRegisterFatBinary(const void* data) {
  using namespace borescope::inject;
  auto* function = reinterpret_cast<void** (*)(const void*)>(
      roctracer::FindRegister(__builtin_return_address(0)));
  void** result =
      function == nullptr || function == __hipRegisterFatBinary ? nullptr : function(data);
  roctracer::BeginWithHip();
  return result;
}
