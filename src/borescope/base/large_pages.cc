#include "borescope/base/large_pages.h"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace borescope::internal {

void PreferLargePages(void* begin, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr size_t kPage = size_t{2} << 20;
  const size_t before = (kPage - reinterpret_cast<uintptr_t>(begin) % kPage) % kPage;
  if (before < bytes && bytes - before >= kPage) {
    // Fails on systems without large pages, which changes nothing.
    static_cast<void>(madvise(static_cast<char*>(begin) + before, (bytes - before) / kPage * kPage,
                              MADV_HUGEPAGE));
  }
#else
  static_cast<void>(begin);
  static_cast<void>(bytes);
#endif
}

}  // namespace borescope::internal
