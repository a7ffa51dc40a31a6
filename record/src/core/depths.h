// How deep the calling thread is in ranges of each domain: NVTX and ROCTX return it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/writer.h"

namespace borescope::inject {

// Those of later domains are not counted, and are 0.
inline constexpr uint32_t kCountedDomains = 1024;

bool MapDepths();
void FreeDepths();

// The depth of the range that begins, from 0.
inline int EnterRange(uint32_t domain) {
  if (domain >= kCountedDomains || (t_thread.depths == nullptr && !MapDepths())) return 0;
  return static_cast<int>(t_thread.depths[domain]++);
}

// The depth of the range that ends; -1 where none is open.
inline int LeaveRange(uint32_t domain) {
  if (domain >= kCountedDomains) return 0;
  uint32_t* depths = t_thread.depths;
  if (depths == nullptr || depths[domain] == 0) return -1;
  return static_cast<int>(--depths[domain]);
}

}  // namespace borescope::inject
