// Timelines as tables, and back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"

namespace borescope::internal {

// Their order.
enum TimelineTable : uint8_t {
  kTimeline,
  kTracks,
  kLevels,
  kBoxes,
  kPoints,
  kWindows,
  kTableCount
};

// timeline, tracks, levels, boxes, points, windows: the rows of each rank together, in this order
// of ranks. Takes the boxes.
Tables TimelineTables(std::vector<Timeline> timelines);

// Whether they are six such tables: numbers in range, rows in order.
Result<void> CheckTimelineTables(const Tables& tables, const Params& params);

// What TimelineTables made tables of; without `shift_ns`, by which its times were moved.
// REQUIRES: CheckTimelineTables.
std::vector<Timeline> TimelinesOf(const Tables& tables);
// The same with them.
std::vector<Timeline> ShiftedTimelines(const Tables& tables);

}  // namespace borescope::internal
