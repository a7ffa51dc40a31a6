#include "borescope/analysis/core/selection/cut_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace borescope::internal {
namespace {

Error OutsideOfCut(const Trace& trace, std::string_view what) {
  const RecordedCut cut = *trace.meta().cut;
  std::string part = cut.steps.empty() ? "" : fmt::format("steps {}", cut.steps);
  if (cut.begin_ns != kMissing || cut.end_ns != kMissing) {
    part += part.empty() ? "" : " and ";
    part += fmt::format("the time from {} to {} ns",
                        cut.begin_ns == kMissing ? cut.recording_begin_ns : cut.begin_ns,
                        cut.end_ns == kMissing ? cut.recording_end_ns : cut.end_ns);
  }
  return {
      ErrorCode::kMissingData,
      fmt::format("{}: holds a part of a recording, {}, and nothing of the {} that {} selected; "
                  "ask the whole recording",
                  trace.meta().file, part, what, what == "steps" ? "are" : "is")};
}

TimePoint OnClock(int64_t ns) { return {TimePoint::Kind::kClock, ns, fmt::format("{}", ns)}; }

Result<TimeRange> RangeWithin(const TimeRange& asked, const Trace& trace) {
  const RecordedCut cut = *trace.meta().cut;
  TimeWindow window;
  if (!asked.is_open()) {
    BS_ASSIGN(window, ResolveWindow(trace, asked));
  }
  TimeRange range = asked;
  if (cut.begin_ns != kMissing && cut.begin_ns >= window.begin_ns) {
    window.begin_ns = cut.begin_ns;
    range.begin = OnClock(cut.begin_ns);
  }
  if (cut.end_ns != kMissing && cut.end_ns <= window.end_ns) {
    window.end_ns = cut.end_ns;
    range.end = OnClock(cut.end_ns);
  }
  if (window.begin_ns > window.end_ns) {
    return OutsideOfCut(trace, "time");
  }
  return range;
}

NumberRanges Common(const NumberRanges& a, const NumberRanges& b) {
  NumberRanges common;
  for (const auto& [first, last] : a.ranges) {
    for (const auto& [other_first, other_last] : b.ranges) {
      const std::pair both(std::max(first, other_first), std::min(last, other_last));
      if (both.first <= both.second) {
        common.ranges.push_back(both);
      }
    }
  }
  return common;
}

Result<NumberRanges> StepsWithin(const NumberRanges& asked, const Trace& trace) {
  const Result<NumberRanges> of_cut = NumberRanges::Parse(trace.meta().cut->steps);
  if (!of_cut.ok()) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("says that it was cut to the steps '{}', which are no numbers",
                             trace.meta().cut->steps),
                 "cut the recording again", trace.meta().file};
  }
  NumberRanges steps = asked.empty() ? *of_cut : Common(asked, *of_cut);
  if (steps.empty()) {
    return OutsideOfCut(trace, "steps");
  }
  return steps;
}

}  // namespace

Result<Selection> WithinCut(const Selection& asked, const Trace& trace) {
  Selection selection = asked;
  if (!trace.meta().cut.has_value()) {
    return selection;
  }
  BS_ASSIGN(selection.range, RangeWithin(asked.range, trace));
  if (!trace.meta().cut->steps.empty() && asked.step_pattern.empty()) {
    BS_ASSIGN(selection.steps, StepsWithin(asked.steps, trace));
  }
  return selection;
}

}  // namespace borescope::internal
