// The time of each step: what is divided into parts. Internal to variance/.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

// All steps of one number.
struct StepSpan {
  int64_t number = 0;
  bool is_first = false;  // the first of the recording
  IntervalSet windows;
  int64_t length_ns = 0;  // of its windows: span_ns of `steps`; > 0
};

struct StepPiece {
  Interval time;
  uint32_t span = 0;  // index into StepSpans::spans
  TrackId thread;     // that runs the step
};

struct StepSpans {
  std::vector<StepSpan> spans;    // by begin
  std::vector<StepPiece> pieces;  // by time, disjoint; of each span they add up to its length
};

// The selected steps: their windows on the host, in which time belongs to the step that begins
// last. O(steps + windows of the selection).
StepSpans FindStepSpans(const RankView& view, const Selected& selected);

}  // namespace borescope::internal
