// The windows of time for which a table of waits or busy time has rows: the selected time, or with
// --by step its parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

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
