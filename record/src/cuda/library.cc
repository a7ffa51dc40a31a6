#include "cuda/library.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/text.h"

namespace borescope::inject::cuda {

namespace {

constexpr uint32_t kNewestMajor = 13;
constexpr uint32_t kOldestMajor = 11;
constexpr size_t kMostPath = 1024;

// The driver's major version; that of the newest CUPTI we know where it cannot be asked.
uint32_t DriverMajor() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return kNewestMajor;
  int version = 0;
  auto* get = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  if (get == nullptr || get(&version) != 0 || version < 1000) return kNewestMajor;
  return static_cast<uint32_t>(version) / 1000;
}

// Loads a library. Why the first one that is there cannot be loaded is added to `why`, which is
// empty before.
void* Open(const char* path, TextBuilder* why) {
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr || why->length() != 0) return library;
  const char* error = dlerror();
  if (error == nullptr) return nullptr;
  // Of a name without a folder, nobody says where the linker looked: its error begins with the name
  // where it found nothing.
  const bool is_absent = path[0] == '/'
                             ? access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
                             : strncmp(error, path, strlen(path)) == 0;
  if (!is_absent) why->Add("libcupti cannot be loaded: ").Add(error);
  return nullptr;
}

void* OpenIn(const char* folder, size_t length, const char* below, uint32_t major,
             TextBuilder* why) {
  char path[kMostPath];
  TextBuilder builder(path, sizeof(path));
  builder.Add(folder, length).Add(below).Add("/libcupti.so.").Add(uint64_t{major});
  return builder.is_cut() ? nullptr : Open(path, why);
}

struct RuntimeFolder {
  char path[kMostPath];
  size_t length;
};

// Stops at the library of the CUDA runtime.
int SeeLibrary(dl_phdr_info* info, size_t, void* data) {
  auto* folder = static_cast<RuntimeFolder*>(data);
  const char* name =
      info->dlpi_name == nullptr ? nullptr : strstr(info->dlpi_name, "/libcudart.so");
  if (name == nullptr) return 0;
  const auto length = static_cast<size_t>(name - info->dlpi_name);
  if (length >= sizeof(folder->path)) return 0;
  memcpy(folder->path, info->dlpi_name, length);
  folder->length = length;
  return 1;
}

void* OpenBesideRuntime(const RuntimeFolder& folder, uint32_t major, TextBuilder* why) {
  if (folder.length == 0) return nullptr;
  const char* const places[] = {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64"};
  for (const char* below : places) {
    if (void* library = OpenIn(folder.path, folder.length, below, major, why)) return library;
  }
  return nullptr;
}

void* OpenInstalled(uint32_t major, TextBuilder* why) {
  const char* home = getenv("CUDA_HOME");
  const char* const folders[] = {home == nullptr ? "" : home, "/usr/local/cuda"};
  for (const char* folder : folders) {
    if (folder[0] != '/') continue;
    void* library = OpenIn(folder, strlen(folder), "/extras/CUPTI/lib64", major, why);
    if (library != nullptr) return library;
  }
  char name[32];
  TextBuilder builder(name, sizeof(name));
  builder.Add("libcupti.so.").Add(uint64_t{major});
  return Open(name, why);
}

void* OpenLoaded(uint32_t major) {
  char name[32];
  TextBuilder builder(name, sizeof(name));
  builder.Add("libcupti.so.").Add(uint64_t{major});
  return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

void* OpenNamed(const char* path, TextBuilder* why) {
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  const char* error = library == nullptr ? dlerror() : nullptr;
  if (error != nullptr) why->Add("BORESCOPE_CUPTI cannot be loaded: ").Add(error);
  return library;
}

void* OpenCupti(TextBuilder* why) {
  const char* given = getenv("BORESCOPE_CUPTI");
  if (given != nullptr && given[0] != '\0') return OpenNamed(given, why);
  const uint32_t driver = DriverMajor();
  const uint32_t newest = driver < kNewestMajor ? driver : kNewestMajor;
  RuntimeFolder runtime = {};
  dl_iterate_phdr(SeeLibrary, &runtime);
  for (uint32_t major = newest; major >= kOldestMajor; --major) {
    if (void* library = OpenLoaded(major)) return library;
  }
  for (uint32_t major = newest; major >= kOldestMajor; --major) {
    if (void* library = OpenBesideRuntime(runtime, major, why)) return library;
    if (void* library = OpenInstalled(major, why)) return library;
  }
  return nullptr;
}

template <typename Function>
void Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
}

void FindFirst(void* library, Cupti* cupti) {
  Find(library, "cuptiGetVersion", &cupti->get_version);
  Find(library, "cuptiActivityEnable", &cupti->enable);
  Find(library, "cuptiActivityDisable", &cupti->disable);
  Find(library, "cuptiActivityEnableDriverApi", &cupti->enable_driver_api);
  Find(library, "cuptiActivityEnableRuntimeApi", &cupti->enable_runtime_api);
  Find(library, "cuptiActivityRegisterCallbacks", &cupti->register_callbacks);
  Find(library, "cuptiActivityRegisterTimestampCallback", &cupti->register_timestamp);
  Find(library, "cuptiActivityGetNextRecord", &cupti->next_record);
  Find(library, "cuptiActivityGetNumDroppedRecords", &cupti->dropped);
  Find(library, "cuptiActivityFlushAll", &cupti->flush_all);
  Find(library, "cuptiSetThreadIdType", &cupti->set_thread_ids);
  Find(library, "cuptiGetCallbackName", &cupti->callback_name);
  Find(library, "cuptiSubscribe", &cupti->subscribe);
  Find(library, "cuptiEnableCallback", &cupti->enable_callback);
}

void FindSecond(void* library, Cupti* cupti) {
  Find(library, "cuptiSubscribe_v2", &cupti->subscribe_2);
  Find(library, "cuptiUnsubscribe", &cupti->unsubscribe);
  Find(library, "cuptiActivitySetAttribute_v2", &cupti->set_attribute_2);
  Find(library, "cuptiGetTimestamp_v2", &cupti->get_timestamp_2);
  Find(library, "cuptiActivityEnable_v2", &cupti->enable_2);
  Find(library, "cuptiActivityDisable_v2", &cupti->disable_2);
  Find(library, "cuptiActivityEnableDriverApi_v2", &cupti->enable_driver_api_2);
  Find(library, "cuptiActivityEnableRuntimeApi_v2", &cupti->enable_runtime_api_2);
  Find(library, "cuptiActivityRegisterCallbacks_v2", &cupti->register_callbacks_2);
  Find(library, "cuptiActivityGetNextRecord_v2", &cupti->next_record_2);
  Find(library, "cuptiActivityGetNumDroppedRecords_v2", &cupti->dropped_2);
}

}  // namespace

bool FindCupti(Cupti* cupti, char (&why)[kMostWhy]) {
  TextBuilder text(why, sizeof(why));
  void* library = OpenCupti(&text);
  if (library == nullptr && text.length() == 0) text.Add("libcupti is not found");
  if (library == nullptr) return false;
  cupti->library = library;
  FindFirst(library, cupti);
  FindSecond(library, cupti);
  const bool has_all = cupti->get_version != nullptr && cupti->enable != nullptr &&
                       cupti->register_callbacks != nullptr && cupti->next_record != nullptr &&
                       cupti->flush_all != nullptr;
  if (!has_all) TextBuilder(why, sizeof(why)).Add("libcupti lacks functions");
  return has_all;
}

}  // namespace borescope::inject::cuda
