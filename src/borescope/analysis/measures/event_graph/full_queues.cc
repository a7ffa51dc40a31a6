#include "borescope/analysis/measures/event_graph/full_queues.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <tuple>

#include "borescope/analysis/measures/shared_inherited_work.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {
namespace {

// A call that finds this part of the longest queue waiting, and takes so many times its usual time,
// has waited.
constexpr double kFullShare = 0.97;
constexpr double kTimesUsual = 1.5;

// What a call put on a stream.
struct QueuedLaunch {
  int64_t at_ns = 0;
  HostId call;     // invalid: it was made before the recording began
  DeviceId first;  // of its work on the stream
  int64_t start_ns = 0;
};

class QueueFinder {
 public:
  QueueFinder(const RankView& view, const DeviceClocks& clocks)
      : host_(view.trace.host()),
        device_(view.trace.device()),
        view_(view),
        clocks_(clocks),
        inherited_(SharedInheritedWork(view)) {}

  std::vector<QueuedCall> Find() {
    VisitStreams([&](size_t i, size_t longest) { MarkFull(i, longest); });
    if (!found_full_.empty()) {
      MeasureCalls();
      VisitStreams([&](size_t i, size_t longest) { AddCall(i, longest); });
    }
    return std::move(found_);
  }

 private:
  // Inherited work holds places of the queue, too: it was launched before all calls.
  void CollectLaunches(uint32_t first_row, uint32_t end_row) {
    launches_.clear();
    for (uint32_t row = first_row; row < end_row; ++row) {
      CheckStopAt(row);
      const HostId call = view_.index.correlation.launch_of[row];
      const DeviceId id{row};
      const int64_t start_ns = device_.ts_ns[row] + clocks_.SkewOf(device_.track[row]);
      if (call.valid() && IsDeviceWork(device_.kind[row])) {
        launches_.push_back({host_.ts_ns[call.value], call, id, start_ns});
      } else if (inherited_->IsInherited(id) && !IsOfSameLaunch(id)) {
        launches_.push_back({std::numeric_limits<int64_t>::min(), HostId{}, id, start_ns});
      }
    }
    const auto key = [](const QueuedLaunch& launch) {
      return std::tuple(launch.at_ns, launch.call.value, launch.start_ns, launch.first.value);
    };
    SortRuns(std::span(launches_),
             [&](const QueuedLaunch& a, const QueuedLaunch& b) { return key(a) < key(b); });
    launches_.erase(std::unique(launches_.begin(), launches_.end(),
                                [](const QueuedLaunch& a, const QueuedLaunch& b) {
                                  return a.call.valid() && a.call == b.call;
                                }),
                    launches_.end());
  }

  // Whether inherited work is of the same launch, of a graph, as what was collected last.
  bool IsOfSameLaunch(DeviceId id) const {
    return !launches_.empty() && IsCorrelation(device_.correlation[id.value]) &&
           device_.correlation[id.value] == device_.correlation[launches_.back().first.value];
  }

  size_t StartedBy(int64_t ns) const {
    return static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), ns) -
                               starts_.begin());
  }

  // The launches of streams whose queue was long enough that its limit shows.
  template <class Visit>
  void VisitStreams(const Visit& visit) {
    const Tracks& tracks = view_.trace.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] != TrackKind::kDevice) {
        continue;
      }
      CollectLaunches(tracks.first_row[track], tracks.end_row[track]);
      const size_t longest = LongestQueue();
      for (size_t i = 0; longest >= kFullQueue && i < launches_.size(); ++i) {
        CheckStopAt(i);
        if (launches_[i].call.valid()) {
          visit(i, longest);
        }
      }
    }
  }

  size_t LongestQueue() {
    starts_.clear();
    for (const QueuedLaunch& launch : launches_) {
      starts_.push_back(launch.start_ns);
    }
    SortRuns(std::span(starts_), std::less<>());
    waiting_.clear();
    size_t started = 0;
    size_t longest = 0;
    for (size_t i = 0; i < launches_.size(); ++i) {
      CheckStopAt(i);
      while (started < starts_.size() && starts_[started] <= launches_[i].at_ns) {
        ++started;
      }
      waiting_.push_back(i > started ? i - started : 0);
      // How many were ahead of the recording says nothing about how many may be.
      longest = launches_[i].call.valid() ? std::max(longest, waiting_.back()) : longest;
    }
    return longest;
  }

  bool FindsFull(size_t i, size_t longest) const {
    return static_cast<double>(waiting_[i]) >= kFullShare * static_cast<double>(longest);
  }

  void MarkFull(size_t i, size_t longest) {
    found_full_.resize(host_.size());
    found_full_[launches_[i].call.value] = FindsFull(i, longest) ? 1 : 0;
  }

  void AddCall(size_t i, size_t longest) {
    if (i < longest) {
      return;
    }
    const HostId call = launches_[i].call;
    const int64_t begin_ns = host_.ts_ns[call.value];
    const int64_t end_ns = host_.end_ns(call);
    const int64_t usual_ns = usual_ns_[host_.name[call.value].value];
    const bool is_long = FindsFull(i, longest) && static_cast<double>(end_ns - begin_ns) >
                                                      kTimesUsual * static_cast<double>(usual_ns);
    // Near the limit another of the last works may have freed the place.
    const size_t started = is_long ? StartedBy(end_ns) : 0;
    const QueuedLaunch& last = launches_[started == 0 ? 0 : std::min(started, i) - 1];
    const bool was_full = is_long && last.start_ns > begin_ns && last.start_ns <= end_ns;
    const QueuedLaunch& frees = was_full ? last : launches_[i - longest];
    if (frees.start_ns <= end_ns) {  // else launches of several threads overtake each other
      found_.push_back({call, frees.first, usual_ns, was_full});
    }
  }

  // How long calls take, by name: the median of those that found room; where there are none, what
  // one in ten does not exceed.
  void MeasureCalls() {
    std::vector<std::vector<int64_t>> all(view_.trace.strings().size());
    std::vector<std::vector<int64_t>> roomy(all.size());
    const Correlation& links = view_.index.correlation;
    for (uint32_t row = 0; row < host_.size(); ++row) {
      CheckStopAt(row);
      if (host_.kind[row] == HostKind::kRuntime && host_.detail[row] != kNoDetail &&
          !links.DevicesOf(host_.detail[row]).empty()) {
        all[host_.name[row].value].push_back(host_.dur_ns[row]);
        if (found_full_[row] == 0) {
          roomy[host_.name[row].value].push_back(host_.dur_ns[row]);
        }
      }
    }
    usual_ns_.assign(all.size(), 0);
    for (size_t name = 0; name < all.size(); ++name) {
      if (!all[name].empty()) {
        usual_ns_[name] = roomy[name].empty() ? AtShare(all[name], 10) : AtShare(roomy[name], 2);
      }
    }
  }

  // The value that one in `parts` does not exceed.
  static int64_t AtShare(std::vector<int64_t>& values, size_t parts) {
    const auto at = values.begin() + static_cast<ptrdiff_t>(values.size() / parts);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  }

  const HostEvents& host_;
  const DeviceEvents& device_;
  const RankView& view_;
  const DeviceClocks& clocks_;
  std::shared_ptr<const InheritedWork> inherited_;
  std::vector<QueuedLaunch> launches_;  // of the stream at hand, by launch
  std::vector<int64_t> starts_;         // of their work, ascending
  std::vector<size_t> waiting_;         // per launch: the earlier ones whose work had not started
  std::vector<char> found_full_;        // per host row; empty: no queue was full
  std::vector<int64_t> usual_ns_;       // by StringId of the name
  std::vector<QueuedCall> found_;
};

}  // namespace

std::vector<QueuedCall> FindQueuedCalls(const RankView& view, const DeviceClocks& clocks) {
  return QueueFinder(view, clocks).Find();
}

}  // namespace borescope::internal
