#include "core/endings.h"

#include <atomic>
#include <cstddef>

namespace borescope::inject {

namespace {
constexpr size_t kPlaces = 256;
std::atomic<uint64_t> awaited[kPlaces];  // 0: free
std::atomic<uint32_t> count;
}  // namespace

bool AwaitEnd(uint64_t id) {
  for (std::atomic<uint64_t>& place : awaited) {
    uint64_t none = 0;
    if (!place.compare_exchange_strong(none, id)) continue;
    count.fetch_add(1);
    return true;
  }
  return false;
}

bool TakeEnd(uint64_t id) {
  if (count.load() == 0) return false;
  for (std::atomic<uint64_t>& place : awaited) {
    uint64_t there = id;
    if (!place.compare_exchange_strong(there, 0)) continue;
    count.fetch_sub(1);
    return true;
  }
  return false;
}

}  // namespace borescope::inject
