#include "borescope/analysis/measures/time/inherited_work.h"

#include <algorithm>
#include <limits>
#include <map>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// What was recorded first of the calls of a process.
struct FirstCalls {
  int64_t number = kNever;     // the least correlation number
  int64_t launch_ns = kNever;  // begin of the first call that started device work
};

// By process; under kMissing of all processes together.
std::map<int64_t, FirstCalls> FirstCallsOf(const RankView& view) {
  const HostEvents& host = view.trace.host();
  const RuntimeCalls& calls = view.trace.runtime_calls();
  std::map<int64_t, FirstCalls> first;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] != HostKind::kRuntime || host.detail[row] == kNoDetail) {
      continue;
    }
    const int64_t number = calls.correlation[host.detail[row]];
    const bool is_launch = !view.index.correlation.DevicesOf(host.detail[row]).empty();
    for (const int64_t process : {view.trace.tracks().pid[host.track[row].value], kMissing}) {
      FirstCalls& found = first[process];
      found.number = number > 0 ? std::min(found.number, number) : found.number;
      found.launch_ns = is_launch ? std::min(found.launch_ns, host.ts_ns[row]) : found.launch_ns;
    }
  }
  return first;
}

// Work of a stream before the first with a recorded launch.
struct StreamHead {
  std::vector<DeviceId> rows;
  bool has_launch = false;  // of later work of the stream
  int64_t process = kMissing;
};

std::vector<StreamHead> HeadsOf(const RankView& view) {
  const Tracks& tracks = view.trace.tracks();
  std::vector<StreamHead> heads;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDevice) {
      continue;
    }
    StreamHead head;
    head.process = tracks.process[track];
    for (uint32_t row = tracks.first_row[track]; row < tracks.end_row[track]; ++row) {
      CheckStopAt(row);
      if (IsDeviceWork(view.trace.device().kind[row])) {
        head.has_launch = view.index.correlation.launch_of[row].valid();
        if (head.has_launch) {
          break;
        }
        head.rows.push_back(DeviceId{row});
      }
    }
    if (!head.rows.empty()) {
      heads.push_back(std::move(head));
    }
  }
  return heads;
}

}  // namespace

InheritedWork::InheritedWork(const RankView& view) {
  const std::vector<StreamHead> heads = HeadsOf(view);
  if (heads.empty()) {
    return;
  }
  const DeviceEvents& device = view.trace.device();
  const std::map<int64_t, FirstCalls> calls = FirstCallsOf(view);
  for (const StreamHead& head : heads) {
    const auto first = calls.find(head.process);
    if (first == calls.end() || first->second.launch_ns == kNever) {
      continue;
    }
    for (const DeviceId id : head.rows) {
      const int64_t number = device.correlation[id.value];
      const bool has_numbers = number > 0 && first->second.number != kNever;
      const bool is_before = head.has_launch || device.ts_ns[id.value] < first->second.launch_ns;
      if (has_numbers ? number < first->second.number : is_before) {
        rows_.push_back(id);
      }
    }
  }
  std::sort(rows_.begin(), rows_.end(), [](DeviceId a, DeviceId b) { return a.value < b.value; });
}

bool InheritedWork::Has(DeviceId id) const {
  return std::binary_search(rows_.begin(), rows_.end(), id,
                            [](DeviceId a, DeviceId b) { return a.value < b.value; });
}

}  // namespace borescope::internal
