// Selected: the part of one rank that a Selection keeps.
//
// --step and --annotation name windows of host time; given both, time must lie in both. Time that
// is measured (busy, idle) is clipped to the windows. Things that are counted belong to the window
// in which they were asked for: device work by the start of its launch (its own start when the
// launch is unknown), host events by their start. --gpu and --stream look at the device side only.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/registry.h"
#include "borescope/base/intervals.h"

namespace borescope {

class Selected {
 public:
  // An error when a step, annotation, device or stream that was asked for does not exist.
  static Result<Selected> Make(const RankView& view, const Selection& selection);

  // Selected time, sorted and disjoint; without a selection of time the whole recording.
  const IntervalSet& windows() const { return windows_; }
  // Indices into TraceIndex::steps of the steps selected by number; all of them by default.
  const std::vector<uint32_t>& steps() const { return steps_; }
  // Whether some device tracks may be left out.
  bool by_track() const { return by_track_; }

  // A device stream that passes --gpu and --stream.
  bool KeepsTrack(TrackId track) const { return keeps_track_[track.value] != 0; }
  bool KeepsTime(int64_t ts_ns) const;
  bool Keeps(HostId id) const { return KeepsTime(view_->trace.host().ts_ns[id.value]); }
  // REQUIRES: nothing of its kind; annotations and waits of the device are never kept.
  bool Keeps(DeviceId id) const;

 private:
  explicit Selected(const RankView& view);

  // kMissingData when --gpu or --stream leaves none of the device work there is.
  Result<void> CheckTracks() const;

  const RankView* view_;  // outlives this
  bool all_time_ = true;
  bool by_track_ = false;
  IntervalSet windows_;
  std::vector<uint32_t> steps_;
  std::vector<char> keeps_track_;
};

// When device work was asked for: the start of its launch, or its own start.
int64_t RequestTime(const RankView& view, DeviceId id);

}  // namespace borescope
