// libborescope_record_rocm.so: the tool that rocprofiler-sdk loads (ROCP_TOOL_LIBRARIES), which
// passes its question on to libborescope_record.so in the same program.
#include <dlfcn.h>

#include <cstdint>

extern "C" __attribute__((visibility("default"))) void* rocprofiler_configure(uint32_t version,
                                                                              const char*, uint32_t,
                                                                              void* client) {
  auto* configure =
      reinterpret_cast<void* (*)(uint32_t, void*)>(dlsym(RTLD_DEFAULT, "borescope_record_rocm"));
  return configure == nullptr ? nullptr : configure(version, client);
}
