// Selected: the part of one rank that a Selection keeps.
//
// --step and --annotation name windows of host time, --begin and --end a window of any time; time
// must lie in all that are given. Time that is measured (busy, idle) is clipped to the windows.
// Things that are counted belong to the step or annotation in which they were asked for: device
// work by the start of its launch (its own start when the launch is unknown), host events by their
// start. Between --begin and --end they belong by their own start, both ends included, as with
// `convert`. --gpu and --stream look at the device side only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

class Selected {
 public:
  // An error when a step, annotation, kernel, device or stream that was asked for does not exist,
  // and when --begin and --end leave no time.
  static Result<Selected> Make(const RankView& view, const Selection& selection);

  // Selected time, sorted and disjoint; without a selection of time the whole recording.
  const IntervalSet& windows() const { return windows_; }
  // Indices into TraceIndex::steps of the steps selected by number, all of them by default, as far
  // as they lie between --begin and --end.
  const std::vector<uint32_t>& steps() const { return steps_; }
  // Whether some device tracks may be left out.
  bool by_track() const { return by_track_; }

  // A device stream that passes --gpu and --stream.
  bool KeepsTrack(TrackId track) const { return keeps_track_[track.value] != 0; }
  bool KeepsTime(int64_t ts_ns) const { return KeepsTime(ts_ns, ts_ns); }
  // Of something that was asked for at another time than its own.
  bool KeepsTime(int64_t ts_ns, int64_t asked_ns) const {
    return range_.Holds(ts_ns) && IsAskedFor(asked_ns);
  }
  bool Keeps(HostId id) const { return KeepsTime(view_->trace.host().ts_ns[id.value]); }
  // REQUIRES: nothing of its kind; annotations and waits of the device are never kept.
  bool Keeps(DeviceId id) const;

 private:
  explicit Selected(const RankView& view);

  Result<void> SelectSteps(const NumberRanges& numbers);
  Result<void> SelectRange(const TimeRange& range);
  void SelectTracks(const Selection& selection);
  void Narrow(const IntervalSet& windows);
  // Whether the time lies in the steps and annotations.
  bool IsAskedFor(int64_t ts_ns) const;
  // kMissingData when --gpu or --stream leaves none of the device work there is.
  Result<void> CheckTracks() const;

  const RankView* view_;  // outlives this
  bool all_time_ = true;  // neither steps nor annotations
  bool by_track_ = false;
  TimeWindow range_;
  IntervalSet asked_;  // of the steps and annotations; unless all_time_
  IntervalSet windows_;
  std::vector<uint32_t> steps_;
  std::vector<char> keeps_track_;
};

// How many host annotations have this name.
size_t CountInstances(const Trace& trace, std::string_view annotation);

// When device work was asked for: the start of its launch, or its own start.
int64_t RequestTime(const RankView& view, DeviceId id);

}  // namespace borescope::internal
