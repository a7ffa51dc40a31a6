// What grows from step to step in a device's memory: lines that hold more and more, in blocks that
// stay or that larger ones replace, and lines of which each step needs more than the one before.
//
// A line that fell by as much before is a cycle, as a list that is cleared every ten steps, and no
// growth. Pure functions: safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::postmortem {

enum class GrowthKind : uint8_t {
  kHeld,      // blocks that stay
  kReplaced,  // the least that a line holds in a step, in blocks that larger ones replace
  kPeak,      // the most that a line holds in a step beyond the least; all of it is freed again
  kEnd,
};
std::string_view Name(GrowthKind kind);

struct MemoryGrowth {
  uint32_t site = 0;
  MemoryCategory category = MemoryCategory::kEnd;
  GrowthKind kind = GrowthKind::kHeld;
  uint64_t steps = 0;       // so many in a row, the last ones
  uint64_t first_step = 0;  // the first of these, counted from 1
  uint64_t bytes_per_step = 0;
  uint64_t blocks_per_step = 0;
  uint64_t last_bytes = 0;    // in the last of these steps
  uint64_t bytes = 0;         // in these steps together
  bool is_forward = false;    // the blocks that came last are of a forward pass
  bool has_fallen = false;    // by as much before, though not after so many steps
  bool is_by_time = false;    // no steps were marked: by eighths of the time or of the events
  bool is_by_events = false;  // it is of the events
  // Else the steps are unmarked, the line fell before, or what it holds varies for other reasons.
  bool is_certain() const { return kind == GrowthKind::kHeld && !has_fallen && !is_by_time; }
};
// What grew in each of the last three steps or more, most bytes a step first; of what is replaced
// or freed again, which may vary by chance, in each of the last six or more. Without steps, in the
// last three eighths of the time or more, or the last five of the events: a long start of the
// program fills most of the time, and few of the events. Eighths in which nothing is freed are the
// start of a program, too, and do not count.
std::vector<MemoryGrowth> FindGrowth(const DeviceMemory& device, const Replay& replay,
                                     const MemorySites& sites, const MemoryCategories& categories,
                                     const std::vector<MemoryStep>& steps);

}  // namespace borescope::internal::postmortem
