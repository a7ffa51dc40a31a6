#include "borescope/cli/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "borescope/cli/options/values.h"

// Sanitizers take memory of their own, and end the process where they get none.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BORESCOPE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BORESCOPE_SANITIZED 1
#endif
#endif
#ifndef BORESCOPE_SANITIZED
#define BORESCOPE_SANITIZED 0
#endif

namespace borescope::cli {
namespace {

// What RLIMIT_DATA bounds: memory that is only the program's, and can be written.
rlim_t WritableBytes() {
  rlim_t pages = 0;
  rlim_t before = 0;
  std::ifstream file("/proc/self/statm");  // proc_pid_statm(5): the sixth number
  file >> before >> before >> before >> before >> before >> pages;
  return file ? pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

void RefuseMemoryBeyond(uint64_t bytes) {
  static const rlim_t base = WritableBytes();
  rlimit limit{};
  if (BORESCOPE_SANITIZED != 0 || base == 0 || getrlimit(RLIMIT_DATA, &limit) != 0) {
    return;
  }
  limit.rlim_cur = std::min(limit.rlim_cur, base + bytes + bytes / 16);
  setrlimit(RLIMIT_DATA, &limit);
}

Result<uint64_t> KeepMemoryLimit(const RawOptions& raw) {
  if (raw.Get("memory-limit").empty()) {
    return uint64_t{0};
  }
  BS_ASSIGN(const uint64_t bytes, ParseSize("memory-limit", raw.Get("memory-limit")));
  RefuseMemoryBeyond(bytes);
  return bytes;
}

}  // namespace borescope::cli
