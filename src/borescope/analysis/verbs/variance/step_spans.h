// The time of each step: what is divided into parts. Internal to variance/.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/intervals.h"
#include "borescope/index/clocks/device_clocks.h"

namespace borescope::internal {

// A step, whose windows may be of several threads.
struct StepSpan {
  int64_t number = 0;
  bool is_first = false;  // the first of the recording
  int64_t length_ns = 0;  // > 0
};

struct StepPiece {
  Interval time;      // on the clock of the host
  uint32_t span = 0;  // index into StepSpans::spans
  TrackId thread;     // that runs the step
};

struct StepSpans {
  std::vector<StepSpan> spans;    // by begin; several may have one number
  std::vector<StepPiece> pieces;  // by time, disjoint; of each span they add up to its length
  // Per step of the recording: index into `spans`, kNoStep for none.
  std::vector<uint32_t> span_of;

  IntervalSet Time() const;
};

// The steps among `numbers`, all if that is empty, with the times of StepTimes. These are the
// lengths of `whatif` (measured_ns): a stall that devices do not notice, as they still have work,
// makes no step longer. Of several processes with steps those of the one that begins first.
// O(rows).
StepSpans FindStepSpans(const RankView& view, const NumberRanges& numbers,
                        const DeviceClocks& clocks);

// The same on the host alone: its window, less time in the one before.
StepSpans FindHostSpans(const RankView& view, const NumberRanges& numbers);

}  // namespace borescope::internal
