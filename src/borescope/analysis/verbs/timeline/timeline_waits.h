// What comparing ranks says about their timelines: their clocks in line, and who waits for whom.
#pragma once

#include <cstdint>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Moves the timelines of ranks to the clock that their collectives show, where all of them met, and
// adds a row to each that waited or was waited for: a box for the time in a collective until its
// last rank entered, and for that one from when the first was there. Nothing where no collective
// was found on two ranks. `waits`: what the verb waits maps, of all ranks; `exit_skew_ns` as in
// MakeWaitRun; `size`: about how many bytes of a page the timelines of all ranks may take, of which
// the rows of waiting have BytesForWaits; `timeline`: the finished tables of the verb timeline.
// O(n log n).
void AddWaits(const Tables& waits, int64_t exit_skew_ns, int64_t size, Tables& timeline);

// What is left of the size of several ranks for their rows of waiting.
constexpr int64_t BytesForWaits(int64_t size) { return size / 16; }

}  // namespace borescope::internal
