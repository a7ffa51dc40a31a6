// The windows of time for which a table of waits or busy time has rows: the selected time, or with
// --by step its pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

struct StepWindow {
  int64_t step = kMissing;      // number of the ProfilerStep; kMissing: all time, or in no step
  int64_t begin_ns = kMissing;  // where the step begins, also before the selected time
  IntervalSet time;
};

// Without `by_step` one window, all selected time. With it one per number of the selected steps, by
// start, then one of the time in no step; those without selected time are left out. Where recorded
// steps overlap, the time belongs to the one that begins last, as in Steps::At, so that the windows
// are disjoint and add up to the selected time. O((windows + steps) log).
std::vector<StepWindow> WindowsOf(const RankView& view, const Selected& selected, bool by_step);

// kInvalidArgument for a table of more rows than anybody can use: a row for each of `windows` and
// `tracks` (devices or streams) grows with the square of what the file holds.
Result<void> CheckRows(const RankView& view, size_t windows, size_t tracks);

}  // namespace borescope::internal
