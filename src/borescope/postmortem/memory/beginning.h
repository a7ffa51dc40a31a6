// What an allocator held before the first event of a recording, and which event of it belongs to
// which: what a replay (replay.h) begins with.
//
// Pure functions of one device's events: safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::postmortem {

// The segments and pages before the first event.
struct Beginning {
  // Addresses of an expandable segment.
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint16_t lane = 0;
    bool is_small = false;
  };
  std::vector<MemorySegment> segments;  // not expandable, by address
  std::vector<Range> ranges;            // that hold all pages there ever were, by address
  std::vector<Range> mapped;            // parts of these that had pages
  bool has_completions = false;         // free_completed was recorded
  bool has_private = false;             // some segment is of a private pool
};

// Sets the links between events, and the blocks and segments before the first event, of `replay`.
// Of what was there before, what the snapshot lists at its end or an event gives back is known.
Beginning FindBeginning(const MemorySnapshot& snapshot, const DeviceMemory& device, Replay& replay);

}  // namespace borescope::internal::postmortem
