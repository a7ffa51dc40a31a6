// What held the memory of a device at its peak: the allocations that were made in the recording and
// not yet freed, by the operator and annotation around them.
#pragma once

#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/memory/memory_levels.h"

namespace borescope::internal {

// The host rows around each allocator event on its thread; invalid where there is none.
struct MemoryContexts {
  std::vector<HostId> op;          // the outermost operator
  std::vector<HostId> annotation;  // the innermost user annotation
};

MemoryContexts FindContexts(const RankView& view);

// One row of the answer.
struct HeldMemory {
  std::string op;  // or why there is none
  std::string annotation;
  int64_t allocations = 0;
  int64_t bytes = 0;
};

// What is held after `device.levels[peak]`, largest first, ties by name. The bytes add up to the
// level: what was allocated before the recording has a row of its own, without a count; so has,
// below 0, what was freed without an event. An address allocated twice without a free in between
// counts twice.
std::vector<HeldMemory> HeldAt(const RankView& view, const MemoryContexts& contexts,
                               const DeviceMemory& device, size_t peak);

}  // namespace borescope::internal
