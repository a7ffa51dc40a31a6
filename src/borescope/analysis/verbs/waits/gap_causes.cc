#include "borescope/analysis/verbs/waits/gap_causes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/recorded_syncs.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/idle/idle_division.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/shared_inherited_work.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

LateCause CauseOf(IdleCause cause) {
  switch (cause) {
    case IdleCause::kData:
      return LateCause::kData;
    case IdleCause::kHead:
    case IdleCause::kHost:
      return LateCause::kHost;
    case IdleCause::kSync:
      return LateCause::kSync;
    case IdleCause::kLaunchCall:
    case IdleCause::kLatency:
      return LateCause::kLaunch;
    case IdleCause::kDevice:
      return LateCause::kDevice;
    case IdleCause::kBeforeRecording:
    case IdleCause::kInherited:
    case IdleCause::kTail:
    case IdleCause::kUnrecorded:
    case IdleCause::kUnknown:
    case IdleCause::kCount:
      break;
  }
  return LateCause::kUnknown;
}

using CauseSets = std::array<IntervalSet, kOwnCauses>;

// The idle times of one device by cause. Gaps are on its clock, the host on its own.
class IdleTimes {
 public:
  IdleTimes(const Trace& trace, const HostTime& host, int64_t skew_ns, bool has_inherited,
            CauseSets& sets)
      : trace_(trace), host_(host), skew_ns_(skew_ns), has_inherited_(has_inherited), sets_(sets) {}

  void Add(const StreamGaps& gaps) {
    if (gaps.first_ns == kMissing) return;
    DivideHead(OnHost({trace_.begin_ns(), gaps.first_ns}), LaunchOf(gaps.first_launch),
               {has_inherited_, AddSaturating(gaps.first_ns, skew_ns_)}, host_, parts_);
    Keep();
    for (const StreamGap& gap : gaps.gaps) {
      DivideGap(OnHost(gap.time), LaunchOf(gap.launch), host_, parts_);
      Keep();
    }
  }

 private:
  Interval OnHost(Interval time) const {
    return {AddSaturating(time.begin, skew_ns_), AddSaturating(time.end, skew_ns_)};
  }

  LaunchTime LaunchOf(HostId launch) const {
    if (!launch.valid()) return {};
    return {trace_.host().ts_ns[launch.value], trace_.host().end_ns(launch)};
  }

  void Keep() {
    for (const IdlePart& part : parts_) {
      Extend(sets_[static_cast<size_t>(CauseOf(part.cause))],
             {SubtractSaturating(part.time.begin, skew_ns_),
              SubtractSaturating(part.time.end, skew_ns_)});
    }
  }

  const Trace& trace_;
  const HostTime& host_;
  const int64_t skew_ns_;
  const bool has_inherited_;
  CauseSets& sets_;
  std::vector<IdlePart> parts_;
};

CauseSets SetsOf(const RankView& view, const DeviceTime& time, const HostTime& host,
                 const InheritedWork& inherited, const DeviceClocks& clocks) {
  CauseSets sets;
  sets[static_cast<size_t>(LateCause::kCompute)] = time.compute;
  sets[static_cast<size_t>(LateCause::kCopy)] = time.exposed_copy;
  sets[static_cast<size_t>(LateCause::kComm)] = time.exposed_comm;
  const int64_t skew_ns = time.tracks.empty() ? 0 : clocks.SkewOf(TrackId{time.tracks.front()});
  IdleTimes(view.trace, host, skew_ns, inherited.IsOnAny(time.tracks), sets)
      .Add(FindStreamGaps(view, time.tracks, 0));
  return sets;
}

Result<SharedDeviceTimes> TimesOfAll(const RankView& view) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, {}));
  return DeviceTimes(view, selected, PerTrack::kGpu);
}

}  // namespace

Result<GapCauses> GapCauses::Make(const RankView& view) {
  BS_ASSIGN(const SharedDeviceTimes times, TimesOfAll(view));
  const HostTimes host(view);
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  const auto waits = SyncsByRecordedTimes(view);
  GapCauses causes;
  for (const DeviceTime& time : *times) {
    CauseSets sets = SetsOf(view, time, host.all(), *inherited, waits->clocks);
    Device& device = causes.devices_[time.gpu];
    for (size_t cause = 0; cause < static_cast<size_t>(LateCause::kUnknown); ++cause) {
      device.by_cause.emplace_back(std::move(sets[cause]));
    }
  }
  return causes;
}

CauseNs GapCauses::Within(int64_t gpu, int64_t begin, int64_t end) const {
  CauseNs parts{};
  if (begin >= end) return parts;
  int64_t rest_ns = SubtractSaturating(end, begin);
  const auto device = devices_.find(gpu);
  if (device != devices_.end()) {
    for (size_t cause = 0; cause < device->second.by_cause.size(); ++cause) {
      parts[cause] = device->second.by_cause[cause].Within(begin, end);
      rest_ns -= parts[cause];
    }
  }
  At(parts, LateCause::kUnknown) = rest_ns;
  return parts;
}

Result<IntervalSet> ComputeTime(const RankView& view) {
  BS_ASSIGN(const SharedDeviceTimes times, TimesOfAll(view));
  IntervalSet compute;
  for (const DeviceTime& time : *times) compute = Union(compute, time.compute);
  return compute;
}

}  // namespace borescope::internal
