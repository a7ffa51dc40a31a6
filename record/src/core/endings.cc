#include "core/endings.h"

#include <atomic>

#include "core/state.h"

namespace borescope::inject {

bool AwaitEnd(uint64_t id) {
  for (std::atomic<uint64_t>& place : g_log->awaited_ends) {
    uint64_t none = 0;
    if (place.load() != 0 || !place.compare_exchange_strong(none, id)) continue;
    g_log->awaited_count.fetch_add(1);
    return true;
  }
  return false;
}

bool TakeEnd(uint64_t id) {
  if (g_log->awaited_count.load() == 0) return false;
  for (std::atomic<uint64_t>& place : g_log->awaited_ends) {
    uint64_t there = id;
    // Most places are read alone: ends come often, and on many threads.
    if (place.load() != id || !place.compare_exchange_strong(there, 0)) continue;
    g_log->awaited_count.fetch_sub(1);
    return true;
  }
  return false;
}

}  // namespace borescope::inject
