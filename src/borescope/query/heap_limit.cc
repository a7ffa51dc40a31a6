#include "borescope/query/heap_limit.h"

#include <sqlite3.h>

#include <algorithm>

namespace borescope::internal::query {
namespace {

std::mutex& OneAtATime() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

HeapLimit::HeapLimit(int64_t more_bytes)
    : lock_(OneAtATime()),
      hard_before_(sqlite3_hard_heap_limit64(-1)),
      soft_before_(sqlite3_soft_heap_limit64(-1)) {
  const int64_t limit = sqlite3_memory_used() + more_bytes;
  sqlite3_hard_heap_limit64(hard_before_ == 0 ? limit : std::min(limit, hard_before_));
}

// The hard limit lowers the soft one, which therefore comes last.
HeapLimit::~HeapLimit() {
  sqlite3_hard_heap_limit64(hard_before_);
  sqlite3_soft_heap_limit64(soft_before_);
}

}  // namespace borescope::internal::query
