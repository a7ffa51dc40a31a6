#include "borescope/analysis/measures/idle/main_processes.h"

#include <algorithm>
#include <map>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int64_t kSmall = 10;  // one of so many parts

using TimeOfProcess = std::map<int64_t, int64_t>;

TimeOfProcess TimesOn(const RankView& view, uint32_t track) {
  const Tracks& tracks = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  TimeOfProcess times;
  for (uint32_t row = tracks.first_row[track]; row < tracks.end_row[track]; ++row) {
    CheckStopAt(row);
    const HostId launch = view.index.correlation.launch_of[row];
    if (IsDeviceWork(device.kind[row]) && launch.valid()) {
      const TrackId thread = view.trace.host().track[launch.value];
      AddSaturatingTo(times[tracks.pid[thread.value]], device.dur_ns[row]);
    }
  }
  return times;
}

// By number; none if all are.
std::vector<int64_t> LargeOnes(const TimeOfProcess& times) {
  int64_t longest_ns = 0;
  for (const auto& [pid, ns] : times) {
    longest_ns = std::max(longest_ns, ns);
  }
  std::vector<int64_t> pids;
  for (const auto& [pid, ns] : times) {
    if (ns >= longest_ns / kSmall) {
      pids.push_back(pid);
    }
  }
  return pids.size() == times.size() ? std::vector<int64_t>() : pids;
}

}  // namespace

MainProcesses FindMainProcesses(const RankView& view, const std::vector<uint32_t>& tracks) {
  std::vector<TimeOfProcess> by_track;
  TimeOfProcess all;
  for (const uint32_t track : tracks) {
    by_track.push_back(TimesOn(view, track));
    for (const auto& [pid, ns] : by_track.back()) {
      AddSaturatingTo(all[pid], ns);
    }
  }
  MainProcesses main{LargeOnes(all), {}};
  for (size_t i = 0; i < tracks.size(); ++i) {
    const bool is_used = std::any_of(main.pids.begin(), main.pids.end(),
                                     [&](int64_t pid) { return by_track[i].count(pid) > 0; });
    if (main.pids.empty() || by_track[i].empty() || is_used) {
      main.tracks.push_back(tracks[i]);
    }
  }
  return main;
}

}  // namespace borescope::internal
