// When each step ran: from the completion of the one before to its own.
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

// The windows of time for which a table of waits or busy time has rows: the selected time, or with
// --by step its parts.

// The tracks with the work of a device or stream.
using LineTracks = std::vector<uint32_t>;

struct StepWindow {
  struct LineTime {
    size_t line = 0;
    IntervalSet time;
  };

  int64_t step = kMissing;      // its number; kMissing: all time, or in no step
  std::vector<LineTime> times;  // by line, of lines with selected time

  // The time of a line; empty if there is none. O(log lines).
  const IntervalSet& On(size_t line) const;
};

// Without `by_step` one window, all selected time. With it one per number of the selected steps, by
// begin, then one of the time in no step; those without selected time are left out, but for steps
// that launched nothing in their selected windows. The windows of a line are disjoint and add up to
// its selected time (Selected::PiecesOf). O((rows + steps) log).
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

// kInvalidArgument for a table of more rows than anybody can use: a row for each of `windows` and
// `tracks` (devices or streams) grows with the square of what the file holds.
Result<void> CheckRows(const RankView& view, size_t windows, size_t tracks);

}  // namespace borescope::internal
