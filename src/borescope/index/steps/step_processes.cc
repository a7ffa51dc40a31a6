#include "borescope/index/steps/step_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// The index of a process; kNoProcess if it has no steps.
uint32_t IndexOf(const std::vector<int64_t>& processes, int64_t pid) {
  const auto found = std::lower_bound(processes.begin(), processes.end(), pid);
  return found != processes.end() && *found == pid
             ? static_cast<uint32_t>(found - processes.begin())
             : kNoProcess;
}

// The process that launched all work on a device, by the number of the device; kAnyProcess: there
// are several.
using DeviceUsers = HashMap<int64_t, uint32_t>;

DeviceUsers FindUsers(const Trace& trace, const Correlation& correlation, const Steps& steps) {
  const Tracks& tracks = trace.tracks();
  DeviceUsers users;
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    CheckStopAt(row);
    const HostId launch = correlation.launch_of[row];
    if (launch.valid()) {
      const uint32_t process = steps.process_of[trace.host().track[launch.value].value];
      const int64_t gpu = tracks.pid[trace.device().track[row].value];
      uint32_t& user = users.try_emplace(gpu, process).first->second;
      user = user == process ? user : kAnyProcess;
    }
  }
  return users;
}

}  // namespace

int64_t ProcessOf(const Trace& trace, HostId row) {
  return trace.tracks().pid[trace.host().track[row.value].value];
}

void FindProcesses(const Trace& trace, const std::vector<HostId>& annotations, Steps& steps) {
  for (const HostId row : annotations) {
    steps.processes.push_back(ProcessOf(trace, row));
  }
  std::sort(steps.processes.begin(), steps.processes.end());
  steps.processes.erase(std::unique(steps.processes.begin(), steps.processes.end()),
                        steps.processes.end());
  const Tracks& tracks = trace.tracks();
  if (steps.processes.size() == 1) {
    // Annotations may be recorded under another number of their process than its calls.
    steps.process_of.assign(tracks.size(), 0);
    return;
  }
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_host = tracks.kind[track] == TrackKind::kHost;
    const int64_t pid = is_host ? tracks.pid[track] : tracks.process[track];
    steps.process_of.push_back(!is_host && pid == kMissing ? kAnyProcess
                                                           : IndexOf(steps.processes, pid));
  }
}

void FindProcessesOfDevices(const Trace& trace, const Correlation& correlation, Steps& steps) {
  const Tracks& tracks = trace.tracks();
  const DeviceUsers users = FindUsers(trace, correlation, steps);
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (steps.process_of[track] == kAnyProcess) {
      const auto found = users.find(tracks.pid[track]);
      steps.process_of[track] = found == users.end() ? kAnyProcess : found->second;
    }
  }
}

void CountSharedSteps(const Trace& trace, const Steps& steps, Diagnostics& diagnostics) {
  if (steps.processes.size() < 2) {
    return;
  }
  const Tracks& tracks = trace.tracks();
  std::map<int64_t, std::set<uint32_t>> users;  // by device
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice && steps.process_of[track] != kNoProcess) {
      users[tracks.pid[track]].insert(steps.process_of[track]);
    }
  }
  for (const auto& [gpu, processes] : users) {
    if (processes.size() > 1 || processes.contains(kAnyProcess)) {
      diagnostics.Count(Diag::kSharedSteps, Diagnostics::kNoByte, fmt::format("device {}", gpu));
    }
  }
}

}  // namespace borescope::internal
