#include "core/ranges.h"

#include <atomic>

namespace borescope::inject {

namespace {
std::atomic<uint64_t> next_id = 1;
}  // namespace

uint64_t NextRangeId() { return next_id.fetch_add(1, std::memory_order_relaxed); }

}  // namespace borescope::inject
