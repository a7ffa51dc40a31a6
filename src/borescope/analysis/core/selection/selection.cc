#include "borescope/analysis/core/selection/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/index/steps/steps.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {

namespace {

Error NoSuchStep(const RankView& view) {
  const std::vector<Step>& steps = view.steps().steps;
  const auto [first, last] = std::minmax_element(
      steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.number < b.number; });
  return {ErrorCode::kMissingData, "no such step",
          fmt::format("recorded are steps {} to {}", first->number, last->number),
          view.trace.meta().file};
}

Error NoSteps(const RankView& view) {
  return {ErrorCode::kMissingData, "no ProfilerStep annotations",
          "call prof.step() after every iteration, or name the annotations that are steps with "
          "`step_pattern`",
          view.trace.meta().file};
}

// The windows of an annotation's instances, in order of their start.
std::vector<Interval> InstancesOf(const Trace& trace, std::string_view name) {
  std::vector<Interval> instances;
  const StringId wanted = trace.strings().Find(name);
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; wanted.valid() && row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.name[row] == wanted && host.kind[row] == HostKind::kAnnotation) {
      instances.push_back({host.ts_ns[row], host.ts_ns[row] + host.dur_ns[row]});
    }
  }
  std::stable_sort(instances.begin(), instances.end(),
                   [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  return instances;
}

Result<IntervalSet> AnnotationWindows(const RankView& view, const Selection& selection) {
  const std::vector<Interval> all = InstancesOf(view.trace, selection.annotation);
  std::vector<Interval> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    if (selection.instances.empty() || selection.instances.Contains(static_cast<int64_t>(i))) {
      kept.push_back(all[i]);
    }
  }
  if (all.empty()) {
    return Error{ErrorCode::kMissingData, "no host annotation \"" + selection.annotation + "\"",
                 "borescope annotations lists those there are", view.trace.meta().file};
  }
  if (kept.empty()) {
    return Error{ErrorCode::kMissingData,
                 "no such instance of the host annotation \"" + selection.annotation + "\"",
                 std::to_string(all.size()) + " recorded, counted from 0", view.trace.meta().file};
  }
  return Union(std::move(kept));
}

// Per process, and of all together.
std::vector<IntervalSet> StepWindows(const Steps& steps, const std::vector<uint32_t>& kept) {
  std::vector<std::vector<Interval>> windows(steps.processes.size() + 1);
  for (const uint32_t i : kept) {
    const Step& step = steps.steps[i];
    windows[step.process].push_back({step.begin_ns, step.end_ns});
    windows.back().push_back({step.begin_ns, step.end_ns});
  }
  std::vector<IntervalSet> sets;
  sets.reserve(windows.size());
  for (std::vector<Interval>& of_process : windows) {
    sets.push_back(Union(std::move(of_process)));
  }
  return sets;
}

bool Holds(const IntervalSet& windows, int64_t ts_ns) {
  const auto next = std::partition_point(windows.begin(), windows.end(),
                                         [ts_ns](const Interval& w) { return w.end <= ts_ns; });
  return next != windows.end() && next->begin <= ts_ns;
}

}  // namespace

Selected::Selected(const RankView& view) : view_(&view) {
  const Trace& trace = view.trace;
  windows_ = Union(std::vector<Interval>{{trace.begin_ns(), trace.end_ns()}});
  time_of_all_steps_ = windows_;
  keeps_track_.assign(trace.tracks().size(), 1);
}

Result<Selected> Selected::Make(const RankView& view, const Selection& selection) {
  Selected result(view);
  BS_TRY(result.SelectSteps(selection));
  BS_TRY(result.SelectAnnotation(selection));
  result.asked_ = result.windows_;
  result.SelectTracks(selection);
  BS_TRY(result.SelectRange(selection.range));
  BS_TRY(result.CheckTracks());
  result.keeps_all_ = selection.empty();
  return result;
}

Result<void> Selected::SelectSteps(const Selection& selection) {
  rule_ = selection.step_rule;
  has_steps_ = !selection.steps.empty();
  const Steps& steps = view_->steps();
  keeps_step_.assign(steps.steps.size(), 0);
  for (uint32_t i = 0; i < steps.steps.size(); ++i) {
    if (!has_steps_ || selection.steps.Contains(steps.steps[i].number)) {
      steps_at_any_time_.push_back(i);
      keeps_step_[i] = 1;
    }
  }
  steps_ = steps_at_any_time_;
  if (!has_steps_) {
    return {};
  }
  if (steps_.empty()) {
    return steps.steps.empty() ? NoSteps(*view_) : NoSuchStep(*view_);
  }
  windows_of_processes_ = StepWindows(steps, steps_);
  windows_ = Intersect(windows_, windows_of_processes_.back());
  return {};
}

Result<void> Selected::SelectAnnotation(const Selection& selection) {
  has_annotation_ = !selection.annotation.empty();
  if (has_annotation_) {
    BS_ASSIGN(annotations_, AnnotationWindows(*view_, selection));
    annotations_ = Intersect(time_of_all_steps_, annotations_);
    windows_ = Intersect(windows_, annotations_);
    time_of_all_steps_ = annotations_;
  }
  return {};
}

Result<void> Selected::SelectRange(const TimeRange& range) {
  if (range.is_open()) {
    return {};
  }
  BS_ASSIGN(range_, ResolveWindow(view_->trace, range));
  const Interval window{range_.begin_ns, range_.end_ns};
  const bool has_time = !windows_.empty();
  windows_ = Clip(windows_, window);
  time_of_all_steps_ = Clip(time_of_all_steps_, window);
  // Work of a step may run after its window.
  const bool is_by_launch = has_steps_ && rule_ == StepRule::kLaunch;
  if (has_time && windows_.empty() && !(is_by_launch && KeepsAnyWork())) {
    return Error{ErrorCode::kMissingData,
                 "nothing is left between `begin` and `end` of the time that is selected",
                 {},
                 view_->trace.meta().file};
  }
  const std::vector<Step>& steps = view_->steps().steps;
  std::erase_if(steps_, [&](uint32_t i) {
    return steps[i].end_ns <= range_.begin_ns || steps[i].begin_ns > range_.end_ns;
  });
  return {};
}

void Selected::SelectTracks(const Selection& selection) {
  const Tracks& tracks = view_->trace.tracks();
  for (size_t i = 0; i < tracks.size(); ++i) {
    const bool keeps = (selection.gpus.empty() || selection.gpus.Contains(tracks.pid[i])) &&
                       (selection.streams.empty() || selection.streams.Contains(tracks.tid[i]));
    keeps_track_[i] = keeps ? 1 : 0;
  }
  by_track_ = !selection.gpus.empty() || !selection.streams.empty();
}

// A device or stream that does not exist is a slip, and an empty answer would hide it.
Result<void> Selected::CheckTracks() const {
  const Tracks& tracks = view_->trace.tracks();
  std::set<int64_t> gpus;
  std::set<int64_t> streams;
  for (uint32_t i = 0; i < tracks.size(); ++i) {
    if (!HasDeviceWork(view_->trace, i)) {
      continue;
    }
    if (KeepsTrack(TrackId{i})) {
      return {};
    }
    gpus.insert(tracks.pid[i]);
    streams.insert(tracks.tid[i]);
  }
  if (!by_track_ || gpus.empty()) {
    return {};
  }
  return Error{ErrorCode::kMissingData, "no work on the selected device or stream",
               fmt::format("devices with work: {}; streams: {}", fmt::join(gpus, ", "),
                           fmt::join(streams, ", ")),
               view_->trace.meta().file};
}

std::vector<uint32_t> Selected::StepsOf(std::span<const uint32_t> tracks) const {
  const Steps& steps = view_->steps();
  bool is_any = tracks.empty();
  std::vector<char> is_user(steps.processes.size());
  for (const uint32_t track : tracks) {
    const uint32_t process = steps.process_of.empty() ? kNoProcess : steps.process_of[track];
    is_any = is_any || process == kAnyProcess;
    if (process < is_user.size()) {
      is_user[process] = 1;
    }
  }
  std::vector<uint32_t> found;
  std::copy_if(steps_at_any_time_.begin(), steps_at_any_time_.end(), std::back_inserter(found),
               [&](uint32_t step) { return is_any || is_user[steps.steps[step].process] != 0; });
  return found;
}

std::vector<Steps::Piece> Selected::PiecesOf(std::span<const uint32_t> tracks) const {
  return rule_ == StepRule::kLaunch ? DivideByLaunch(*view_, tracks)
                                    : CutSteps(view_->steps().steps, StepsOf(tracks));
}

IntervalSet Selected::TimeOf(std::span<const uint32_t> tracks) const {
  if (!has_steps_) {
    return windows_;
  }
  if (rule_ == StepRule::kTime) {
    return Intersect(time_of_all_steps_, StepWindows(view_->steps(), StepsOf(tracks)).back());
  }
  IntervalSet time;
  const std::vector<Steps::Piece> pieces = PiecesOf(tracks);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].step != kNoStep && keeps_step_[pieces[i].step] != 0) {
      Extend(time, {pieces[i].begin_ns, pieces[i + 1].begin_ns});
    }
  }
  return Intersect(time_of_all_steps_, time);
}

bool Selected::IsAskedFor(int64_t ts_ns) const {
  return !(has_steps_ || has_annotation_) || Holds(asked_, ts_ns);
}

bool Selected::IsInSteps(TrackId track, int64_t ts_ns) const {
  const Steps& steps = view_->steps();
  if (rule_ == StepRule::kLaunch) {
    const uint32_t step = steps.At(track, ts_ns);
    return step != kNoStep && keeps_step_[step] != 0;
  }
  const uint32_t process = steps.process_of[track.value];
  return process != kNoProcess && Holds(process == kAnyProcess ? windows_of_processes_.back()
                                                               : windows_of_processes_[process],
                                        ts_ns);
}

bool Selected::KeepsSelected(HostId id) const {
  const HostEvents& host = view_->trace.host();
  return Keeps(host.track[id.value], host.ts_ns[id.value]);
}

bool Selected::Keeps(TrackId thread, int64_t ts_ns) const {
  return range_.Holds(ts_ns) && (!has_annotation_ || Holds(annotations_, ts_ns)) &&
         (!has_steps_ || IsInSteps(thread, ts_ns));
}

bool Selected::KeepsStep(DeviceId id) const {
  if (rule_ == StepRule::kLaunch) {
    const uint32_t step = StepOf(*view_, id, rule_);
    return step != kNoStep && keeps_step_[step] != 0;
  }
  const HostId launch = view_->index.correlation.launch_of[id.value];
  if (launch.valid()) {
    const HostEvents& host = view_->trace.host();
    return IsInSteps(host.track[launch.value], host.ts_ns[launch.value]);
  }
  const DeviceEvents& device = view_->trace.device();
  return IsInSteps(device.track[id.value], device.ts_ns[id.value]);
}

bool Selected::KeepsAnyWork() const {
  for (const uint32_t row : EachRow(view_->trace.device().size())) {
    if (Keeps(DeviceId{row})) {
      return true;
    }
  }
  return false;
}

bool Selected::KeepsWork(DeviceId id) const {
  const DeviceEvents& device = view_->trace.device();
  return KeepsTrack(device.track[id.value]) && range_.Holds(device.ts_ns[id.value]) &&
         (!has_annotation_ || Holds(annotations_, RequestTime(*view_, id))) &&
         (!has_steps_ || KeepsStep(id));
}

size_t CountInstances(const Trace& trace, std::string_view annotation) {
  return InstancesOf(trace, annotation).size();
}

int64_t RequestTime(const RankView& view, DeviceId id) {
  const HostId launch = view.index.correlation.launch_of[id.value];
  return launch.valid() ? view.trace.host().ts_ns[launch.value]
                        : view.trace.device().ts_ns[id.value];
}

namespace {

void EraseInstances(const RankView& view, std::string_view annotation,
                    std::set<int64_t>& instances) {
  if (!instances.empty()) {
    const auto count = static_cast<int64_t>(CountInstances(view.trace, annotation));
    instances.erase(instances.begin(), instances.lower_bound(count));
  }
}

void KeepCommon(std::set<int64_t>& numbers, const std::set<int64_t>& other) {
  std::erase_if(numbers, [&](int64_t number) { return !other.contains(number); });
}

void AppendNames(std::string_view what, const std::set<int64_t>& numbers,
                 std::vector<std::string>& names) {
  for (const int64_t number : numbers) {
    names.push_back(fmt::format("{} {}", what, number));
  }
}

}  // namespace

std::set<int64_t> SinglesOf(const NumberRanges& numbers) {
  std::set<int64_t> singles;
  for (const auto& [first, last] : numbers.ranges) {
    if (first == last) {
      singles.insert(first);
    }
  }
  return singles;
}

SelectionMembers FindUnknown(const RankView& view, const Selection& selection) {
  SelectionMembers unknown{SinglesOf(selection.steps), SinglesOf(selection.gpus),
                           SinglesOf(selection.streams), SinglesOf(selection.instances)};
  for (const Step& step : view.steps().steps) {
    unknown.steps.erase(step.number);
  }
  const Tracks& tracks = view.trace.tracks();
  const bool asks_tracks = !unknown.gpus.empty() || !unknown.streams.empty();
  for (uint32_t track = 0; asks_tracks && track < tracks.size(); ++track) {
    if (HasDeviceWork(view.trace, track)) {
      unknown.gpus.erase(tracks.pid[track]);
      unknown.streams.erase(tracks.tid[track]);
    }
  }
  const MemoryEvents& memory = view.trace.memory();
  for (size_t row = 0; row < memory.size() && !unknown.gpus.empty(); ++row) {
    if (memory.device_type[row] > 0) {  // not the CPU; the verb memory selects by these
      unknown.gpus.erase(memory.device[row]);
    }
  }
  EraseInstances(view, selection.annotation, unknown.instances);
  return unknown;
}

std::set<int64_t> FindStepsWithoutWork(const RankView& view, const Selection& selection) {
  std::set<int64_t> without;
  if (selection.steps.empty() || selection.step_rule != StepRule::kLaunch) {
    return without;
  }
  const std::vector<Step>& steps = view.steps().steps;
  for (const Step& step : steps) {
    if (selection.steps.Contains(step.number)) {
      without.insert(step.number);
    }
  }
  const DeviceEvents& device = view.trace.device();
  bool has_work = false;
  for (uint32_t row = 0; row < device.size() && !without.empty(); ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(device.kind[row])) {
      has_work = true;
      const uint32_t step = StepOf(view, DeviceId{row}, StepRule::kLaunch);
      without.erase(step == kNoStep ? kMissing : steps[step].number);
    }
  }
  return has_work ? without : std::set<int64_t>();
}

void Intersect(SelectionMembers& unknown, const SelectionMembers& other) {
  KeepCommon(unknown.steps, other.steps);
  KeepCommon(unknown.gpus, other.gpus);
  KeepCommon(unknown.streams, other.streams);
  KeepCommon(unknown.instances, other.instances);
}

std::vector<std::string> NamesOf(const SelectionMembers& members) {
  std::vector<std::string> names;
  AppendNames("step", members.steps, names);
  AppendNames("gpu", members.gpus, names);
  AppendNames("stream", members.streams, names);
  AppendNames("instance", members.instances, names);
  return names;
}

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
