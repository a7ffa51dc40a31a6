// When each step ran, from the completion of the one before to its own, and the windows of time for
// which tables have rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/intervals.h"
#include "borescope/index/clocks/device_clocks.h"

namespace borescope::internal {

// Per step of the view, on the clock of the host. A step is complete when its window on the host
// and all work that it launched have ended. Its time is from its begin, or from the completion of
// the previous step of its process if that is later, to its own completion. The first step does not
// begin before the end of the work that was launched before the recording (inherited_work.h). So
// the times of a process are disjoint, and both host and device decide how long a step is.
// Selections do not matter. O(rows).
std::vector<Interval> StepTimes(const RankView& view, const DeviceClocks& clocks);

// The same where `inherited` is the work that was launched before the recording.
std::vector<Interval> StepTimes(const RankView& view, const DeviceClocks& clocks,
                                std::span<const DeviceId> inherited);

// The selected time: that of steps from completion to completion, which may be long after their
// windows on the host; with --step-rule time, those windows.
IntervalSet SelectedTime(const RankView& view, const Selected& selected);
// The same if the times of steps are known, as StepTimes returns them.
IntervalSet SelectedTime(const Selected& selected, std::span<const Interval> step_times);
// Whether selected time is that of steps from completion to completion.
bool HasStepTimes(const Selected& selected);

// The times of steps on the host alone: their windows, without time in the step before.
std::vector<Interval> HostStepTimes(const RankView& view);

// The windows of time for which a table of waits or busy time has rows: the whole selected time, or
// with --by step its parts.

// The tracks with the work of a device or stream.
using LineTracks = std::vector<uint32_t>;

struct StepWindow {
  struct LineTime {
    size_t line = 0;
    IntervalSet time;
  };

  int64_t step = kMissing;      // its number; kMissing: all time, or the time in no step
  std::vector<LineTime> times;  // by line, only of lines with selected time

  // The time of a line; empty if it has none. O(log lines).
  const IntervalSet& On(size_t line) const;
};

// Without `by_step` one window with all selected time. With it one for each number of the selected
// steps, by begin, then one for the time in no step. Windows without selected time are left out,
// except those of steps that launched nothing in their selected windows. The windows of a line are
// disjoint and add up to its selected time (Selected::PiecesOf). O(n log n) for n rows and steps.
std::vector<StepWindow> WindowsOf(const RankView& view, const Selected& selected, bool by_step,
                                  const std::vector<LineTracks>& lines);

// The tracks of lines that have them as a member.
template <class Line>
std::vector<LineTracks> TracksOfLines(const std::vector<Line>& lines) {
  std::vector<LineTracks> tracks;
  tracks.reserve(lines.size());
  for (const Line& line : lines) {
    tracks.push_back(line.tracks);
  }
  return tracks;
}

// kInvalidArgument if a table has too many rows to be useful: with a row for each of `windows` and
// `tracks` (devices or streams) it grows with the square of the file's size.
Result<void> CheckRows(const RankView& view, size_t windows, size_t tracks);

}  // namespace borescope::internal
