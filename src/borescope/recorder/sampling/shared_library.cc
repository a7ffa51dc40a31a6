#include "borescope/recorder/sampling/shared_library.h"

#include <dlfcn.h>

namespace borescope::internal {

SharedLibrary::SharedLibrary(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
}

void* SharedLibrary::Address(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace borescope::internal
