#include "borescope/analysis/core/selection/device_time.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "borescope/base/check.h"
#include "borescope/base/each_row.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

std::shared_ptr<const ClockedSyncs> SyncsByRecordedTimes(const RankView& view) {
  return view.Shared<ClockedSyncs>(
      [&] { return FindSyncsAndClocks(view.trace, view.index.correlation); });
}

std::shared_ptr<const ClockedSyncs> SharedClockedSyncs(const RankView& view) {
  struct ByClocks {};
  return view.Shared<ByClocks>(
      [&] { return FindClockedSyncs(view.trace, view.index.correlation); });
}

namespace {

std::vector<StepWork> WorksOf(const RankView& view, std::span<const uint32_t> tracks) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& all = view.trace.tracks();
  std::vector<StepWork> works;
  for (const uint32_t track : tracks) {
    for (const uint32_t row : EachRow(all.first_row[track], all.end_row[track])) {
      if (IsDeviceWork(device.kind[row])) {
        works.push_back({{device.ts_ns[row], device.end_ns(DeviceId{row})},
                         StepOf(view, DeviceId{row}, StepRule::kLaunch)});
      }
    }
  }
  return works;
}

class Divider {
 public:
  explicit Divider(std::vector<StepWork> works) : works_(std::move(works)) {
    // The first step of those that begin together first.
    SortRuns(std::span(works_), [](const StepWork& a, const StepWork& b) {
      return std::tuple(a.time.begin, a.step) < std::tuple(b.time.begin, b.step);
    });
  }

  std::vector<Steps::Piece> Divide() {
    int64_t now_ns = std::numeric_limits<int64_t>::min();
    for (next_ = 0; next_ < works_.size();) {
      Start(now_ns, works_[next_].step);
      now_ns = works_[next_].time.begin;
      Open(now_ns);
      now_ns = RunUntilIdle(now_ns);
    }
    Start(now_ns, kNoStep);
    return std::move(pieces_);
  }

 private:
  // Adds the work that has begun.
  void Open(int64_t now_ns) {
    for (; next_ < works_.size() && works_[next_].time.begin <= now_ns; ++next_) {
      CheckStopAt(next_);
      running_.emplace(works_[next_].step, works_[next_].time.end);
    }
  }

  // Returns when no work runs any more.
  int64_t RunUntilIdle(int64_t now_ns) {
    for (;;) {
      while (!running_.empty() && running_.top().second <= now_ns) {
        running_.pop();
      }
      if (running_.empty()) {
        return now_ns;
      }
      const auto [step, end_ns] = running_.top();
      Start(now_ns, step);
      now_ns = next_ < works_.size() ? std::min(end_ns, works_[next_].time.begin) : end_ns;
      Open(now_ns);
    }
  }

  void Start(int64_t begin_ns, uint32_t step) {
    if (!pieces_.empty() && pieces_.back().begin_ns == begin_ns) {
      pieces_.pop_back();
    }
    if (pieces_.empty() || pieces_.back().step != step) {
      pieces_.push_back({begin_ns, step});
    }
  }

  using Running = std::pair<uint32_t, int64_t>;  // step, end

  std::vector<StepWork> works_;
  size_t next_ = 0;
  // The first step on top; work of later steps may have ended.
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::vector<Steps::Piece> pieces_;
};

}  // namespace

uint32_t StepOf(const RankView& view, DeviceId id, StepRule rule) {
  const Steps& steps = view.steps();
  if (steps.steps.empty()) {
    return kNoStep;
  }
  const bool is_launched = view.index.correlation.launch_of[id.value].valid();
  if (rule == StepRule::kTime && !is_launched) {
    const DeviceEvents& device = view.trace.device();
    return steps.At(device.track[id.value], device.ts_ns[id.value]);
  }
  return steps.device_step[id.value];
}

std::vector<Steps::Piece> DivideByWork(std::vector<StepWork> works) {
  return Divider(std::move(works)).Divide();
}

std::vector<Steps::Piece> DivideByLaunch(const RankView& view, std::span<const uint32_t> tracks) {
  return DivideByWork(WorksOf(view, tracks));
}

namespace {

// Compute, communication and copies of one stream, in the order of Activity.
using Activities = std::array<IntervalSet, 3>;

Activities ActivitiesOfTrack(const RankView& view, uint32_t track) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& tracks = view.trace.tracks();
  Activities activities;
  for (const uint32_t row : EachRow(tracks.first_row[track], tracks.end_row[track])) {
    const DeviceId id{row};
    if (IsDeviceWork(device.kind[row])) {
      const Activity activity = ActivityOf(device.kind[row], view.index.ClassOf(view.trace, id));
      Extend(activities[static_cast<size_t>(activity)], {device.ts_ns[row], device.end_ns(id)});
    }
  }
  return activities;
}

// Joins neighbours until one is left, so that many streams cost O(n log streams).
IntervalSet UnionOfAll(std::vector<IntervalSet> sets) {
  while (sets.size() > 1) {
    for (size_t i = 0; i + 1 < sets.size(); i += 2) {
      sets[i / 2] = Union(sets[i], sets[i + 1]);
    }
    if (sets.size() % 2 != 0) {
      sets[sets.size() / 2] = std::move(sets.back());
    }
    sets.resize((sets.size() + 1) / 2);
  }
  return sets.empty() ? IntervalSet() : std::move(sets.front());
}

DeviceTime TimeOf(std::pair<int64_t, int64_t> gpu_stream, std::vector<Activities> streams) {
  std::array<std::vector<IntervalSet>, 3> sets;
  for (Activities& activities : streams) {
    for (size_t i = 0; i < sets.size(); ++i) {
      sets[i].push_back(std::move(activities[i]));
    }
  }
  DeviceTime time{gpu_stream.first, gpu_stream.second, {}, {}, {}, {}, {}, {}, {}};
  time.compute = UnionOfAll(std::move(sets[static_cast<size_t>(Activity::kCompute)]));
  time.comm = UnionOfAll(std::move(sets[static_cast<size_t>(Activity::kCommunication)]));
  time.copy = UnionOfAll(std::move(sets[static_cast<size_t>(Activity::kCopy)]));
  time.exposed_comm = Subtract(time.comm, time.compute);
  const IntervalSet without_copies = Union(time.compute, time.comm);
  time.exposed_copy = Subtract(time.copy, without_copies);
  time.busy = Union(without_copies, time.copy);
  return time;
}

// The set inside the windows. Few windows, the common case, need no walk over the whole set.
IntervalSet Within(const IntervalSet& set, const IntervalSet& windows) {
  constexpr size_t kCostOfSearch = 16;  // steps of a walk
  if (windows.size() > set.size() / kCostOfSearch && windows.size() > 1) {
    return Intersect(set, windows);
  }
  IntervalSet inside;
  for (const Interval& window : windows) {
    const IntervalSet part = Clip(set, window);
    inside.insert(inside.end(), part.begin(), part.end());
  }
  return inside;
}

int64_t CoverageIn(const IntervalSet& set, const IntervalSet& windows) {
  return Coverage(Within(set, windows));
}

std::vector<DeviceTime> MeasureTimes(const RankView& view, const Selected& selected, PerTrack per) {
  std::map<std::pair<int64_t, int64_t>, std::pair<std::vector<Activities>, std::vector<uint32_t>>>
      groups;
  const Tracks& tracks = view.trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (HasDeviceWork(view.trace, track) && selected.KeepsTrack(TrackId{track})) {
      const int64_t stream = per == PerTrack::kStream ? tracks.tid[track] : kMissing;
      auto& [activities, of_line] = groups[{tracks.pid[track], stream}];
      activities.push_back(ActivitiesOfTrack(view, track));
      of_line.push_back(track);
    }
  }
  std::vector<DeviceTime> times;
  times.reserve(groups.size());
  for (auto& [gpu_stream, streams] : groups) {
    times.push_back(TimeOf(gpu_stream, std::move(streams.first)));
    times.back().tracks = std::move(streams.second);
  }
  if (times.empty() && !selected.by_track()) {
    times.emplace_back();
  }
  return times;
}

// Of all devices; those of a selection of some are measures of their own.
struct TimesOfGpus {};
struct TimesOfStreams {};
struct TimesOfSomeGpus {};
struct TimesOfSomeStreams {};

}  // namespace

bool HasDeviceWork(const Trace& trace, uint32_t track) {
  const Tracks& tracks = trace.tracks();
  const auto& kinds = trace.device().kind;
  return tracks.kind[track] == TrackKind::kDevice &&
         std::any_of(kinds.begin() + tracks.first_row[track], kinds.begin() + tracks.end_row[track],
                     IsDeviceWork);
}

SharedDeviceTimes DeviceTimes(const RankView& view, const Selected& selected, PerTrack per) {
  const auto measure = [&] { return MeasureTimes(view, selected, per); };
  if (selected.by_track()) {
    return per == PerTrack::kGpu ? view.Shared<TimesOfSomeGpus>(measure)
                                 : view.Shared<TimesOfSomeStreams>(measure);
  }
  return per == PerTrack::kGpu ? view.Shared<TimesOfGpus>(measure)
                               : view.Shared<TimesOfStreams>(measure);
}

TimeSplit SplitTime(const DeviceTime& time, const IntervalSet& windows) {
  TimeSplit split;
  split.span_ns = Coverage(windows);
  split.compute_ns = CoverageIn(time.compute, windows);
  split.comm_ns = CoverageIn(time.comm, windows);
  split.exposed_comm_ns = CoverageIn(time.exposed_comm, windows);
  split.copy_ns = CoverageIn(time.copy, windows);
  split.exposed_copy_ns = CoverageIn(time.exposed_copy, windows);
  const IntervalSet busy = Within(time.busy, windows);
  split.busy_ns = Coverage(busy);
  split.idle_ns = split.span_ns - split.busy_ns;
  if (busy.empty()) {
    split.head_idle_ns = split.span_ns;
  } else {
    split.head_idle_ns = Coverage(Clip(windows, {windows.front().begin, busy.front().begin}));
    split.tail_idle_ns = Coverage(Clip(windows, {busy.back().end, windows.back().end}));
  }
  BS_CHECK(split.compute_ns + split.exposed_comm_ns + split.exposed_copy_ns + split.idle_ns ==
           split.span_ns);
  return split;
}

}  // namespace borescope::internal
