#include "borescope/analysis/measures/event_graph/full_queues.h"

#include <algorithm>
#include <tuple>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// A call that finds this part of the longest queue waiting, and takes so many times its usual time,
// has waited.
constexpr double kFullShare = 0.97;
constexpr int64_t kTimesUsual = 4;

// What a call put on a stream.
struct QueuedLaunch {
  int64_t at_ns = 0;
  HostId call;
  DeviceId first;  // of its work on the stream
  int64_t start_ns = 0;
};

class QueueFinder {
 public:
  QueueFinder(const RankView& view, const DeviceClocks& clocks)
      : host_(view.trace.host()), device_(view.trace.device()), view_(view), clocks_(clocks) {}

  std::vector<QueuedCall> Find() {
    const Tracks& tracks = view_.trace.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        CollectLaunches(tracks.first_row[track], tracks.end_row[track]);
        FindInStream();
      }
    }
    return std::move(found_);
  }

 private:
  void CollectLaunches(uint32_t first_row, uint32_t end_row) {
    launches_.clear();
    for (uint32_t row = first_row; row < end_row; ++row) {
      CheckStopAt(row);
      const HostId call = view_.index.correlation.launch_of[row];
      if (call.valid() && IsDeviceWork(device_.kind[row])) {
        launches_.push_back({host_.ts_ns[call.value], call, DeviceId{row},
                             device_.ts_ns[row] + clocks_.SkewOf(device_.track[row])});
      }
    }
    const auto key = [](const QueuedLaunch& launch) {
      return std::tuple(launch.at_ns, launch.call.value, launch.start_ns, launch.first.value);
    };
    std::sort(launches_.begin(), launches_.end(),
              [&](const QueuedLaunch& a, const QueuedLaunch& b) { return key(a) < key(b); });
    launches_.erase(
        std::unique(launches_.begin(), launches_.end(),
                    [](const QueuedLaunch& a, const QueuedLaunch& b) { return a.call == b.call; }),
        launches_.end());
  }

  size_t StartedBy(int64_t ns) const {
    return static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), ns) -
                               starts_.begin());
  }
  size_t WaitingBefore(size_t launch) const {
    const size_t started = StartedBy(launches_[launch].at_ns);
    return launch > started ? launch - started : 0;
  }

  void FindInStream() {
    starts_.clear();
    for (const QueuedLaunch& launch : launches_) {
      starts_.push_back(launch.start_ns);
    }
    std::sort(starts_.begin(), starts_.end());
    size_t longest = 0;
    for (size_t i = 0; i < launches_.size(); ++i) {
      CheckStopAt(i);
      longest = std::max(longest, WaitingBefore(i));
    }
    for (size_t i = longest; longest >= kFullQueue && i < launches_.size(); ++i) {
      CheckStopAt(i);
      AddCall(i, longest);
    }
  }

  void AddCall(size_t i, size_t longest) {
    const HostId call = launches_[i].call;
    const int64_t end_ns = host_.end_ns(call);
    const int64_t usual_ns = UsualTime(call);
    const QueuedLaunch& frees = launches_[i - longest];
    if (frees.start_ns > end_ns) {
      return;  // launches of several threads overtake each other
    }
    const bool waited = frees.start_ns > host_.ts_ns[call.value] &&
                        host_.dur_ns[call.value] > kTimesUsual * usual_ns;
    const auto full = static_cast<size_t>(kFullShare * static_cast<double>(longest));
    // Where fewer launches than the limit were waiting, another of the last works freed the place.
    const size_t last_started = StartedBy(end_ns);
    const bool is_near = !waited && WaitingBefore(i) >= full && last_started > 0 &&
                         host_.dur_ns[call.value] > kTimesUsual * usual_ns &&
                         last_started - 1 < i &&
                         launches_[last_started - 1].start_ns > host_.ts_ns[call.value] &&
                         launches_[last_started - 1].start_ns <= end_ns;
    found_.push_back({call, is_near ? launches_[last_started - 1].first : frees.first, usual_ns,
                      waited || is_near});
  }

  // The median, of calls of the same name.
  int64_t UsualTime(HostId call) {
    if (usual_ns_.empty()) {
      MeasureCalls();
    }
    return usual_ns_.at(host_.name[call.value].value);
  }

  void MeasureCalls() {
    HashMap<uint32_t, std::vector<int64_t>> times;
    const Correlation& links = view_.index.correlation;
    for (uint32_t row = 0; row < host_.size(); ++row) {
      CheckStopAt(row);
      if (host_.kind[row] == HostKind::kRuntime && host_.detail[row] != kNoDetail &&
          !links.DevicesOf(host_.detail[row]).empty()) {
        times[host_.name[row].value].push_back(host_.dur_ns[row]);
      }
    }
    // Each gives one value of its own, whatever the order.
    for (auto& [name, durations] : times.InAnyOrder()) {
      const auto middle = durations.begin() + static_cast<ptrdiff_t>(durations.size() / 2);
      std::nth_element(durations.begin(), middle, durations.end());
      usual_ns_[name] = *middle;
    }
  }

  const HostEvents& host_;
  const DeviceEvents& device_;
  const RankView& view_;
  const DeviceClocks& clocks_;
  std::vector<QueuedLaunch> launches_;   // of the stream at hand, by launch
  std::vector<int64_t> starts_;          // of their work, ascending
  HashMap<uint32_t, int64_t> usual_ns_;  // by name; empty: not asked for yet
  std::vector<QueuedCall> found_;
};

}  // namespace

std::vector<QueuedCall> FindQueuedCalls(const RankView& view, const DeviceClocks& clocks) {
  return QueueFinder(view, clocks).Find();
}

}  // namespace borescope::internal
