#include "borescope/index/launches/inherited_work.h"

#include <algorithm>
#include <limits>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {
namespace {

// What the recorded calls of a process say about what was launched before them.
struct CallsOfProcess {
  int64_t least_number = std::numeric_limits<int64_t>::max();  // of any call
  int64_t first_launch_ns = std::numeric_limits<int64_t>::max();
  bool has_launches = false;

  void Add(const CallsOfProcess& other) {
    least_number = std::min(least_number, other.least_number);
    first_launch_ns = std::min(first_launch_ns, other.first_launch_ns);
    has_launches |= other.has_launches;
  }
};

class InheritedFinder {
 public:
  InheritedFinder(const Trace& trace, const Correlation& correlation)
      : trace_(trace), launch_of_(correlation.launch_of), rules_(correlation.rule) {}

  InheritedWork Find() {
    if (!HasUnlaunchedWork()) {
      return {};
    }
    ReadCalls();
    found_.origin.assign(trace_.device().size(), LaunchOrigin::kRecorded);
    found_.has_on_track.assign(trace_.tracks().size(), 0);
    const Tracks& tracks = trace_.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        ClassifyStream(TrackId{track});
      }
    }
    return std::move(found_);
  }

 private:
  bool IsUnlaunched(uint32_t row) const {
    return IsDeviceWork(trace_.device().kind[row]) && !launch_of_[row].valid();
  }

  bool HasUnlaunchedWork() const {
    for (const uint32_t row : EachRow(trace_.device().size())) {
      if (IsUnlaunched(row)) {
        return true;
      }
    }
    return false;
  }

  void ReadCalls() {
    const HostEvents& host = trace_.host();
    for (const uint32_t row : EachRow(host.size())) {
      if (host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail) {
        const int64_t number = trace_.runtime_calls().correlation[host.detail[row]];
        int64_t& least = ProcessOf(HostId{row}).least_number;
        least = IsCorrelation(number) ? std::min(least, number) : least;
      }
    }
    for (const uint32_t row : EachRow(launch_of_.size())) {
      if (launch_of_[row].valid()) {
        CallsOfProcess& calls = ProcessOf(launch_of_[row]);
        calls.has_launches = true;
        calls.first_launch_ns = std::min(calls.first_launch_ns, host.ts_ns[launch_of_[row].value]);
      }
    }
    for (const auto& [process, calls] : processes_) {
      all_.Add(calls);
    }
  }

  CallsOfProcess& ProcessOf(HostId call) {
    return processes_[trace_.tracks().pid[trace_.host().track[call.value].value]];
  }

  // The calls of the process whose stream it is, or of all processes if that is not known.
  const CallsOfProcess& CallsOf(TrackId stream) const {
    const auto found = processes_.find(trace_.tracks().process[stream.value]);
    return found == processes_.end() ? all_ : found->second;
  }

  // Rows of a stream are in the order of their starts.
  void ClassifyStream(TrackId stream) {
    const Tracks& tracks = trace_.tracks();
    const CallsOfProcess& calls = CallsOf(stream);
    const uint32_t end = tracks.end_row[stream.value];
    uint32_t first_launched = tracks.first_row[stream.value];
    while (first_launched < end && !launch_of_[first_launched].valid()) {
      ++first_launched;
    }
    for (const uint32_t row : EachRow(tracks.first_row[stream.value], end)) {
      if (!IsUnlaunched(row)) {
        continue;
      }
      const bool is_inherited = row < first_launched && calls.has_launches &&
                                IsFromBefore(row, calls, first_launched < end);
      found_.origin[row] = is_inherited       ? LaunchOrigin::kInherited
                           : NeedsLaunch(row) ? LaunchOrigin::kLost
                                              : LaunchOrigin::kNotNeeded;
      if (is_inherited) {
        found_.has_on_track[stream.value] = 1;
        AddTo(found_.devices[tracks.pid[stream.value]], DeviceId{row});
      }
    }
  }

  // Whether work that comes before the first launched work of its stream, if there is any, is from
  // before the recording.
  bool IsFromBefore(uint32_t row, const CallsOfProcess& calls, bool has_launched_work) const {
    const int64_t number = trace_.device().correlation[row];
    const bool has_numbers =
        IsCorrelation(number) && calls.least_number != std::numeric_limits<int64_t>::max();
    return has_numbers ? number < calls.least_number
                       : has_launched_work || trace_.device().ts_ns[row] < calls.first_launch_ns;
  }

  // Kineto records launches: where all are missing, it lost them.
  bool NeedsLaunch(uint32_t row) const {
    return all_.has_launches || trace_.meta().format == TraceFormat::kKineto ||
           rules_[row] != LinkRule::kExternalId;
  }

  void AddTo(InheritedByDevice& device, DeviceId id) const {
    const int64_t end_ns = trace_.device().end_ns(id);
    device.cut_ns = device.works == 0 ? end_ns : std::max(device.cut_ns, end_ns);
    ++device.works;
    AddSaturatingTo(device.device_ns, trace_.device().dur_ns[id.value]);
  }

  const Trace& trace_;
  const ColumnData<HostId>& launch_of_;
  const ColumnData<LinkRule>& rules_;
  std::map<int64_t, CallsOfProcess> processes_;  // by pid
  CallsOfProcess all_;
  InheritedWork found_;
};

}  // namespace

bool InheritedWork::IsOnAny(std::span<const uint32_t> tracks) const {
  return !has_on_track.empty() && std::any_of(tracks.begin(), tracks.end(), [this](uint32_t track) {
    return has_on_track[track] != 0;
  });
}

std::vector<DeviceId> InheritedWork::Rows() const {
  std::vector<DeviceId> rows;
  for (uint32_t row = 0; row < origin.size() && !devices.empty(); ++row) {
    CheckStopAt(row);
    if (origin[row] == LaunchOrigin::kInherited) {
      rows.push_back(DeviceId{row});
    }
  }
  return rows;
}

const InheritedByDevice* InheritedWork::On(int64_t gpu) const {
  const auto found = devices.find(gpu);
  return found == devices.end() ? nullptr : &found->second;
}

IntervalSet InheritedWork::RateWindow(int64_t gpu, const IntervalSet& windows) const {
  const InheritedByDevice* inherited = On(gpu);
  return inherited == nullptr
             ? windows
             : Clip(windows, {inherited->cut_ns, std::numeric_limits<int64_t>::max()});
}

InheritedWork FindInheritedWork(const Trace& trace, const Correlation& correlation) {
  return InheritedFinder(trace, correlation).Find();
}

}  // namespace borescope::internal
