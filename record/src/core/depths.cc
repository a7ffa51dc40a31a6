#include "core/depths.h"

#include <sys/mman.h>

#include "core/files.h"

namespace borescope::inject {

namespace {
constexpr size_t kBytes = kCountedDomains * sizeof(OpenRanges);
}  // namespace

bool MapDepths() {
  const QuietSection quiet;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  t_thread.open_ranges = static_cast<OpenRanges*>(memory);
  WatchThreadEnd();
  return true;
}

void FreeDepths() {
  if (t_thread.open_ranges != nullptr) munmap(t_thread.open_ranges, kBytes);
  t_thread.open_ranges = nullptr;
}

}  // namespace borescope::inject
