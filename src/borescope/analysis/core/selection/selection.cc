#include "borescope/analysis/core/selection/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>

#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

Error NoSteps(const RankView& view) {
  const std::vector<Step>& steps = view.index.steps.steps;
  const std::string& file = view.trace.meta().file;
  if (steps.empty()) {
    return {ErrorCode::kMissingData,
            file + ": no ProfilerStep annotations; call prof.step() after every iteration"};
  }
  return {ErrorCode::kMissingData, file + ": no such step; recorded are steps " +
                                       std::to_string(steps.front().number) + " to " +
                                       std::to_string(steps.back().number)};
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
    return Error{ErrorCode::kMissingData, view.trace.meta().file + ": no host annotation \"" +
                                              selection.annotation +
                                              "\"; borescope annotations lists those there are"};
  }
  if (kept.empty()) {
    return Error{ErrorCode::kMissingData,
                 view.trace.meta().file + ": no such instance of the host annotation \"" +
                     selection.annotation + "\"; " + std::to_string(all.size()) +
                     " recorded, counted from 0"};
  }
  return Union(std::move(kept));
}

IntervalSet StepWindows(const Steps& steps, const std::vector<uint32_t>& kept) {
  std::vector<Interval> windows;
  windows.reserve(kept.size());
  for (const uint32_t i : kept) {
    windows.push_back({steps.steps[i].begin_ns, steps.steps[i].end_ns});
  }
  return Union(std::move(windows));
}

}  // namespace

Selected::Selected(const RankView& view) : view_(&view) {
  const Trace& trace = view.trace;
  windows_ = Union(std::vector<Interval>{{trace.begin_ns(), trace.end_ns()}});
  keeps_track_.assign(trace.tracks().size(), 1);
}

Result<Selected> Selected::Make(const RankView& view, const Selection& selection) {
  Selected result(view);
  BS_TRY(result.SelectSteps(selection.steps));
  if (!selection.annotation.empty()) {
    BS_ASSIGN(const IntervalSet windows, AnnotationWindows(view, selection));
    result.Narrow(windows);
  }
  BS_TRY(result.SelectRange(selection.range));
  result.SelectTracks(selection);
  BS_TRY(result.CheckTracks());
  return result;
}

void Selected::Narrow(const IntervalSet& windows) {
  all_time_ = false;
  windows_ = Intersect(windows_, windows);
  asked_ = windows_;
}

Result<void> Selected::SelectSteps(const NumberRanges& numbers) {
  const Steps& steps = view_->index.steps;
  for (uint32_t i = 0; i < steps.steps.size(); ++i) {
    if (numbers.empty() || numbers.Contains(steps.steps[i].number)) {
      steps_.push_back(i);
    }
  }
  if (!numbers.empty()) {
    if (steps_.empty()) {
      return NoSteps(*view_);
    }
    Narrow(StepWindows(steps, steps_));
  }
  return {};
}

Result<void> Selected::SelectRange(const TimeRange& range) {
  if (range.is_open()) {
    return {};
  }
  BS_ASSIGN(range_, ResolveWindow(view_->trace, range));
  const bool had_time = !windows_.empty();
  windows_ = Clip(windows_, {range_.begin_ns, range_.end_ns});
  if (had_time && windows_.empty()) {
    return Error{ErrorCode::kMissingData,
                 view_->trace.meta().file +
                     ": nothing is left between --begin and --end of the time that is selected"};
  }
  const std::vector<Step>& steps = view_->index.steps.steps;
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
  return Error{
      ErrorCode::kMissingData,
      fmt::format("{}: no work on the selected device or stream; devices with work: {}; "
                  "streams: {}",
                  view_->trace.meta().file, fmt::join(gpus, ", "), fmt::join(streams, ", "))};
}

bool Selected::IsAskedFor(int64_t ts_ns) const {
  if (all_time_) {
    return true;
  }
  const auto next = std::partition_point(asked_.begin(), asked_.end(),
                                         [ts_ns](const Interval& w) { return w.end <= ts_ns; });
  return next != asked_.end() && next->begin <= ts_ns;
}

bool Selected::Keeps(DeviceId id) const {
  const DeviceEvents& device = view_->trace.device();
  return IsDeviceWork(device.kind[id.value]) && KeepsTrack(device.track[id.value]) &&
         range_.Holds(device.ts_ns[id.value]) && (all_time_ || IsAskedFor(RequestTime(*view_, id)));
}

size_t CountInstances(const Trace& trace, std::string_view annotation) {
  return InstancesOf(trace, annotation).size();
}

int64_t RequestTime(const RankView& view, DeviceId id) {
  const HostId launch = view.index.correlation.launch_of[id.value];
  return launch.valid() ? view.trace.host().ts_ns[launch.value]
                        : view.trace.device().ts_ns[id.value];
}

}  // namespace borescope::internal
