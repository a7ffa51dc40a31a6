// The windows of time for which a table of waits or busy time has rows: the selected time, or with
// --by step its pieces.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/registry.h"
#include "borescope/analysis/selection.h"
#include "borescope/base/intervals.h"

namespace borescope {

struct StepWindow {
  int64_t step = kMissing;  // number of the ProfilerStep; kMissing: all time, or time in no step
  IntervalSet time;
};

// Without `by_step` one window, all selected time. With it one per selected step, clipped to the
// selected time, by its start; steps outside that time have none. What lies in no step comes last,
// so that the windows add up to the whole where steps do not overlap.
std::vector<StepWindow> WindowsOf(const RankView& view, const Selected& selected, bool by_step);

}  // namespace borescope
