#include "core/depths.h"

#include <sys/mman.h>

#include "core/files.h"

namespace borescope::inject {

namespace {
constexpr size_t kBytes = kCountedDomains * sizeof(uint32_t);
}  // namespace

bool MapDepths() {
  const QuietSection quiet;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  t_thread.depths = static_cast<uint32_t*>(memory);
  WatchThreadEnd();
  return true;
}

void FreeDepths() {
  if (t_thread.depths != nullptr) munmap(t_thread.depths, kBytes);
  t_thread.depths = nullptr;
}

}  // namespace borescope::inject
