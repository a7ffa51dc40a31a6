#include "roctracer/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "core/text.h"

namespace borescope::inject::roctracer {

namespace {

constexpr size_t kMostPath = 1024;

// Paths of libraries that are loaded; null pointers where they are not.
struct Loaded {
  const char* hip;
  const char* roctracer;
  const char* rocprofiler;
  const char* registry;  // by which HIP finds rocprofiler
};

void Note(const char* path, const char* part, const char** place) {
  if (*place == nullptr && strstr(path, part) != nullptr) *place = path;
}

int SeeLibrary(dl_phdr_info* info, size_t, void* data) {
  auto* loaded = static_cast<Loaded*>(data);
  if (info->dlpi_name == nullptr) return 0;
  Note(info->dlpi_name, "/libamdhip64", &loaded->hip);
  Note(info->dlpi_name, "/libroctracer64", &loaded->roctracer);
  Note(info->dlpi_name, "/librocprofiler-sdk.so", &loaded->rocprofiler);
  Note(info->dlpi_name, "/librocprofiler-register.so", &loaded->registry);
  return 0;
}

Loaded LookAround() {
  Loaded loaded = {};
  dl_iterate_phdr(SeeLibrary, &loaded);
  return loaded;
}

size_t FolderLength(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? 0 : static_cast<size_t>(slash - path);
}

bool IsFileBeside(const char* path, const char* name) {
  char text[kMostPath];
  TextBuilder builder(text, sizeof(text));
  builder.Add(path, FolderLength(path)).Add("/").Add(name);
  const int file = builder.is_cut() ? -1 : open(text, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file >= 0) close(file);
  return file >= 0;
}

void* OpenIn(const char* folder, size_t length, const char* below) {
  const char* const names[] = {"/libroctracer64.so.4", "/libroctracer64.so"};
  for (const char* name : names) {
    char path[kMostPath];
    TextBuilder builder(path, sizeof(path));
    builder.Add(folder, length).Add(below).Add(name);
    void* library = builder.is_cut() ? nullptr : dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library != nullptr) return library;
  }
  return nullptr;
}

void* OpenBesideHip(const char* hip) {
  if (hip == nullptr) return nullptr;
  const size_t length = FolderLength(hip);
  const char* const places[] = {"", "/../../lib", "/../../roctracer/lib"};
  for (const char* below : places) {
    if (void* library = OpenIn(hip, length, below)) return library;
  }
  return nullptr;
}

void* OpenInstalled() {
  const char* home = getenv("ROCM_PATH");
  const char* const folders[] = {home == nullptr ? "" : home, "/opt/rocm"};
  for (const char* folder : folders) {
    if (folder[0] != '/') continue;
    if (void* library = OpenIn(folder, strlen(folder), "/lib")) return library;
  }
  return dlopen("libroctracer64.so.4", RTLD_LAZY | RTLD_LOCAL);
}

void* OpenRoctracer() {
  const char* given = getenv("BORESCOPE_ROCTRACER");
  if (given != nullptr && given[0] != '\0') return dlopen(given, RTLD_LAZY | RTLD_LOCAL);
  const Loaded loaded = LookAround();
  if (loaded.roctracer != nullptr) return dlopen(loaded.roctracer, RTLD_LAZY | RTLD_NOLOAD);
  if (void* library = OpenBesideHip(loaded.hip)) return library;
  return OpenInstalled();
}

template <typename Function>
void Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
}

void FindFunctions(void* library, Roctracer* roctracer) {
  Find(library, "roctracer_version_major", &roctracer->version_major);
  Find(library, "roctracer_op_string", &roctracer->operation_name);
  Find(library, "roctracer_set_properties", &roctracer->set_properties);
  Find(library, "roctracer_open_pool_expl", &roctracer->open_pool);
  Find(library, "roctracer_next_record", &roctracer->next_record);
  Find(library, "roctracer_enable_op_activity_expl", &roctracer->enable_work);
  Find(library, "roctracer_disable_op_activity", &roctracer->disable_work);
  Find(library, "roctracer_enable_domain_callback", &roctracer->enable_calls);
  Find(library, "roctracer_disable_domain_callback", &roctracer->disable_calls);
  Find(library, "roctracer_enable_op_callback", &roctracer->enable_call);
  Find(library, "roctracer_disable_op_callback", &roctracer->disable_call);
  Find(library, "roctracer_flush_activity_expl", &roctracer->flush);
  Find(library, "roctracer_get_timestamp", &roctracer->timestamp);
}

}  // namespace

bool IsHipLoaded() { return LookAround().hip != nullptr; }

// Without this variable it asks nobody. Where HIP can register with it, it is loaded from beside
// that at the latest when HIP begins.
bool WillRocprofilerAsk() {
  const char* tools = getenv("ROCP_TOOL_LIBRARIES");
  if (tools == nullptr || tools[0] == '\0') return false;
  const Loaded loaded = LookAround();
  if (loaded.rocprofiler != nullptr) return true;
  return loaded.registry != nullptr && (IsFileBeside(loaded.registry, "librocprofiler-sdk.so.1") ||
                                        IsFileBeside(loaded.registry, "librocprofiler-sdk.so.0"));
}

Found FindRoctracer(Roctracer* roctracer) {
  void* library = OpenRoctracer();
  if (library == nullptr) return Found::kNoLibrary;
  FindFunctions(library, roctracer);
  if (!roctracer->is_complete()) return Found::kNoFunctions;
  return roctracer->version_major() == kMajorVersion ? Found::kYes : Found::kOtherVersion;
}

}  // namespace borescope::inject::roctracer
