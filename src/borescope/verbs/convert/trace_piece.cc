#include "borescope/verbs/convert/trace_piece.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/selection/cut_selection.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {
namespace {

// "3..4,7"
std::string TextOf(const NumberRanges& numbers) {
  std::vector<std::string> parts;
  parts.reserve(numbers.ranges.size());
  for (const auto& [first, last] : numbers.ranges) {
    parts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

void Cover(const IntervalSet& time, TimeWindow& hull) {
  if (!time.empty()) {
    hull.begin_ns = std::min(hull.begin_ns, time.front().begin);
    hull.end_ns = std::max(hull.end_ns, time.back().end);
  }
}

Result<TimeWindow> HullOfSteps(const Trace& trace, const TraceIndex& index, const Selection& part) {
  const RankView view{0, trace, index};
  BS_ASSIGN(const Selected selected, Selected::Make(view, part));
  TimeWindow hull{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  Cover(selected.windows(), hull);
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    Cover(selected.TimeOf(time.tracks), hull);
  }
  return hull;
}

}  // namespace

Result<TracePiece> FindPiece(const Trace& trace, const TraceIndex& index, const Selection& part) {
  BS_ASSIGN(const Selection selection, WithinCut(part, trace));
  TracePiece piece;
  if (selection.range.is_open() && selection.steps.empty()) {
    return piece;
  }
  RecordedCut cut;
  cut.recording_begin_ns = trace.begin_ns();
  cut.recording_end_ns = trace.end_ns();
  BS_ASSIGN(piece.window, ResolveWindow(trace, selection.range));
  if (!selection.range.begin.is_open()) {
    cut.begin_ns = piece.window.begin_ns;
  }
  if (!selection.range.end.is_open()) {
    cut.end_ns = piece.window.end_ns;
  }
  if (!selection.steps.empty()) {
    cut.steps = TextOf(selection.steps);
    BS_ASSIGN(piece.window, HullOfSteps(trace, index, selection));
  }
  piece.cut = std::move(cut);
  return piece;
}

}  // namespace borescope::internal
