// Random programs for the caching allocator, and what a snapshot of such a program would hold,
// recorded by the slow twin.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/postmortem/memory/allocator.h"
#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::testkit {

struct RandomProgram {
  enum Kind : uint8_t { kAllocate, kRequestFree, kCompleteFree, kEmptyCache };
  struct Step {
    Kind kind = kAllocate;
    uint64_t size = 0;
    uint16_t lane = 0;
    uint32_t of = 0;    // of frees: the step that allocated
    uint32_t site = 0;  // which line of the program it is
  };
  postmortem::AllocatorSettings settings;
  postmortem::AllocatorBounds bounds;
  std::vector<postmortem::MemoryLane> lanes;
  std::vector<Step> steps;
};

// Sizes from 1 byte to 2 GiB, one to three streams, sometimes a private pool, frees that wait, and
// any of the settings; bounds are such that some requests fail.
// With `is_plain` no free waits, there is either a limit or a capacity, and the cache is never
// emptied (which leaves no event where it gives nothing back): what the program would do under
// other settings then follows from its trace.
RandomProgram MakeRandomProgram(uint64_t seed, size_t steps, bool is_plain = false);

// The snapshot after the program. The stack of an allocation is its site: line `site` of train.py.
// With `stops_at_oom` the program ends at the first request that fails.
postmortem::MemorySnapshot Record(const RandomProgram& program, bool stops_at_oom = false);

}  // namespace borescope::internal::testkit
