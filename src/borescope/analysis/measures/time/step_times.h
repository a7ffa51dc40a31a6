// When each step ran: from the completion of the one before to its own.
#pragma once

#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/intervals.h"
#include "borescope/index/clocks/device_clocks.h"

namespace borescope::internal {

// Per step of the view, on the clock of the host. A step is complete when its window on the host
// and all work that it launched have ended. It takes from its begin, or from the completion of the
// step before it of its process if that is later, to its own completion; the first one from the end
// of the work that was launched before the recording (inherited_work.h), if that is later. So the
// times of a process are disjoint, and host and device both decide how long a step is. Selections
// change nothing. O(rows).
std::vector<Interval> StepTimes(const RankView& view, const DeviceClocks& clocks);

// The same where `inherited` is the work that was launched before the recording.
std::vector<Interval> StepTimes(const RankView& view, const DeviceClocks& clocks,
                                std::span<const DeviceId> inherited);

// Selected time: of steps from completion to completion, which may be long after their windows on
// the host; with --step-rule time those windows.
IntervalSet SelectedTime(const RankView& view, const Selected& selected);
// The same of steps whose times are known: per step, as StepTimes gives them.
IntervalSet SelectedTime(const Selected& selected, std::span<const Interval> step_times);
// Whether selected time is of steps from completion to completion.
bool HasStepTimes(const Selected& selected);

// The same on the host alone: its window, less time in the step before.
std::vector<Interval> HostStepTimes(const RankView& view);

}  // namespace borescope::internal
