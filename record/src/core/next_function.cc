#include "core/next_function.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "core/files.h"

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

}  // namespace

void* FindNextFunction(const char* part, const char* name) {
  const QuietSection quiet;
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  Library library = {part, nullptr};
  dl_iterate_phdr(SeeLibrary, &library);
  void* loaded = library.path == nullptr ? nullptr : dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD);
  return loaded == nullptr ? nullptr : dlsym(loaded, name);
}

}  // namespace borescope::inject
