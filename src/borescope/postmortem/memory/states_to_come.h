// The first step of an optimizer makes states for each parameter, and often fails in the middle of
// that: what it asks for next is known then, though no recording has it. Pure functions: safe from
// any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::postmortem {

struct StatesToCome {
  uint64_t parameters = 0;     // with a gradient, each of which gets states
  uint64_t states = 0;         // that were made before the failure
  uint64_t per_parameter = 0;  // the fewest that there can be
  uint64_t to_come = 0;        // at least, with the request that failed
  uint64_t to_come_bytes = 0;  // of these
};
// Nothing where `oom` is no such failure, or where states are not of the sizes of gradients, as
// those of eight bits: then how many there are to be does not follow. That there are as many of
// each size for each gradient of that size is the only assumption.
std::optional<StatesToCome> FindStatesToCome(const MemorySnapshot& snapshot,
                                             const DeviceMemory& device, const Replay& replay,
                                             const MemorySites& sites,
                                             const MemoryCategories& categories,
                                             const OomState& oom);

}  // namespace borescope::internal::postmortem
