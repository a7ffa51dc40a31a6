// Makes a timeline small enough for its share of a page: without the finest levels, and with a
// window that ends sooner. What fits a smaller share is what fits it of that which fits a larger
// one, so that parts of a run can be cut before it is known how many ranks share the page.
#pragma once

#include <cstdint>

#include "borescope/analysis/verbs/timeline/page_cost.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"

namespace borescope::internal {

// What of a share there is for the two. REQUIRES: the bytes are those of level 0 before any cut,
// or more than any share allows.
struct PageRoom {
  PageRoom(int64_t share, int64_t track_bytes, int64_t level0_bytes);

  int64_t window = 0;
  int64_t levels = 0;
};
// The most that a window may have, however little the levels take.
int64_t MostOfWindow(int64_t share, int64_t track_bytes);

// Where level 0 has to end so that it takes no more than `room`; its end where it fits.
// REQUIRES: boxes and points are those of level 0.
int64_t EndThatFits(const Timeline& timeline, int64_t room);

// A window of which nothing fits is left without length and events, so that a smaller share can be
// applied later with the same outcome. O(n log n).
void FitPage(Timeline& timeline, int64_t share);

// Takes away such a window, and level 0 with it. Call when no share is applied any more.
void DropEmptyWindow(Timeline& timeline);

// Counts the boxes and bytes of each level as it is.
void MeasureLevels(Timeline& timeline);

// Takes away levels that have hardly more boxes than the next coarser one, and if level 0 has the
// whole recording, those that have hardly fewer than it; the coarsest stays. REQUIRES:
// MeasureLevels, and that no share is applied any more.
void DropRedundantLevels(Timeline& timeline);

}  // namespace borescope::internal
