#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/base/each_row.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {

namespace {

// Which of the work added so far had ended last before a time. Times have to be asked in ascending
// order.
class LastEnded {
 public:
  explicit LastEnded(const DeviceEvents& device) : device_(&device) {}

  void Add(DeviceId id) { running_.emplace(device_->end_ns(id), id); }
  DeviceId At(int64_t ns) {
    for (; !running_.empty() && running_.top().first <= ns; running_.pop()) {
      last_ = std::max(last_, running_.top());
    }
    return last_.second;
  }

 private:
  using Ending = std::pair<int64_t, DeviceId>;

  const DeviceEvents* device_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running_;
  Ending last_{kMissing, {}};
};

// Something that device work may have waited for.
struct Reason {
  NodeId node = kNoNode;
  EdgeKind kind = EdgeKind::kStream;
  size_t sync = kNoSync;  // index of the sync edge

  static constexpr size_t kNoSync = ~size_t{0};
};

class DeviceEdges {
 public:
  DeviceEdges(const RankView& view, const DeviceFacts& facts, GraphBuilder& builder,
              ColumnData<int64_t>& sync_weight_ns)
      : view_(view),
        device_(view.trace.device()),
        clocks_(facts.clocks),
        syncs_(facts.syncs),
        launch_nodes_(facts.launch_nodes),
        builder_(builder),
        sync_weight_ns_(sync_weight_ns),
        start_of_(device_.size(), kNoNode),
        graph_before_(device_.size()) {}

  ColumnData<NodeId> Add() {
    AddNodes();
    FindGraphs();
    FindBeforeOnDevice();
    SortStreamWaits();
    const Tracks& tracks = view_.trace.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        AddTrack(tracks.first_row[track], tracks.end_row[track]);
      }
    }
    return std::move(start_of_);
  }

 private:
  bool IsWork(DeviceId id) const { return IsDeviceWork(device_.kind[id.value]); }

  // On the clock of the host, clamped to the recording, which differing clocks must not extend.
  int64_t HostTime(int64_t ns, uint32_t row) const {
    return std::clamp(ns + clocks_.SkewOf(device_.track[row]), view_.trace.begin_ns(),
                      view_.trace.end_ns());
  }

  void AddNodes() {
    for (const uint32_t row : EachRow(device_.size())) {
      if (IsWork(DeviceId{row})) {
        const int64_t begin_ns = HostTime(device_.ts_ns[row], row);
        const int64_t end_ns = HostTime(device_.end_ns({row}), row);
        start_of_[row] = builder_.AddNode(begin_ns, NodeSide::kDevice, row);
        const NodeId end = builder_.AddNode(end_ns, NodeSide::kDevice, row);
        builder_.AddEdge(start_of_[row], end, end_ns - begin_ns, EdgeKind::kWork);
      }
    }
  }

  // For launches that start work on several streams: which of that work had ended last before each
  // of it began.
  void FindGraphs() {
    const Correlation& links = view_.index.correlation;
    for (uint32_t call = 0; call + 1 < links.device_begin.size(); ++call) {
      const std::span<const DeviceId> started = links.DevicesOf(call);
      if (started.size() < 2 ||
          device_.track[started.front().value] == device_.track[started.back().value]) {
        continue;
      }
      std::vector<DeviceId> work;
      std::copy_if(started.begin(), started.end(), std::back_inserter(work),
                   [&](DeviceId id) { return IsWork(id); });
      std::stable_sort(work.begin(), work.end(), [&](DeviceId a, DeviceId b) {
        return device_.ts_ns[a.value] < device_.ts_ns[b.value];
      });
      LastEnded ended(device_);
      for (const DeviceId id : work) {
        graph_before_[id.value] = ended.At(device_.ts_ns[id.value]);
        ended.Add(id);
      }
    }
  }

  // For devices with several streams whose waits for each other were not recorded: which work of
  // the device had ended last before each work began.
  void FindBeforeOnDevice() {
    if (syncs_.has_records) {
      return;
    }
    device_before_.resize(device_.size());
    std::map<int64_t, std::vector<uint32_t>> tracks_of;  // by device number
    const Tracks& tracks = view_.trace.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        tracks_of[tracks.pid[track]].push_back(track);
      }
    }
    for (const auto& [device, its_tracks] : tracks_of) {
      if (its_tracks.size() > 1) {
        FindBefore(its_tracks);
      }
    }
  }

  void FindBefore(std::span<const uint32_t> its_tracks) {
    const Tracks& tracks = view_.trace.tracks();
    std::vector<DeviceId> work;
    for (const uint32_t track : its_tracks) {
      for (const uint32_t row : EachRow(tracks.first_row[track], tracks.end_row[track])) {
        if (IsWork(DeviceId{row})) {
          work.push_back({row});
        }
      }
    }
    SortRuns(std::span(work), [&](DeviceId a, DeviceId b) {
      return device_.ts_ns[a.value] < device_.ts_ns[b.value];
    });
    LastEnded ended(device_);
    for (const DeviceId id : work) {
      CheckStopAt(id.value);
      device_before_[id.value] = ended.At(device_.ts_ns[id.value]);
      ended.Add(id);
    }
  }

  void SortStreamWaits() {
    sync_weight_ns_.assign(syncs_.edges.size(), 0);
    for (const size_t i : EachIndex(syncs_.edges.size())) {
      if (syncs_.edges[i].kind == SyncKind::kStreamWait) {
        waits_.emplace_back(syncs_.edges[i].target, i);
      }
    }
    std::sort(waits_.begin(), waits_.end());
  }

  void AddTrack(uint32_t first_row, uint32_t end_row) {
    LastEnded ended(device_);
    for (const uint32_t row : EachRow(first_row, end_row)) {
      if (IsWork(DeviceId{row})) {
        FindReasons(DeviceId{row}, ended.At(device_.ts_ns[row]));
        Tie(DeviceId{row}, InferredReason(DeviceId{row}));
        ended.Add(DeviceId{row});
      }
    }
  }

  NodeId EndOf(DeviceId id) const { return id.valid() ? start_of_[id.value] + 1 : kNoNode; }

  void FindReasons(DeviceId id, DeviceId before) {
    reasons_.clear();
    const int64_t start_ns = builder_.TimeOf(start_of_[id.value]);
    const auto add = [&](NodeId node, EdgeKind kind, size_t sync = Reason::kNoSync) {
      const int64_t latest_ns = start_ns + (kind == EdgeKind::kLaunch ? kMostDriftNs : 0);
      if (node != kNoNode && builder_.TimeOf(node) <= latest_ns) {
        reasons_.push_back({node, kind, sync});
      }
    };
    add(EndOf(before), EdgeKind::kStream);
    auto wait = std::lower_bound(waits_.begin(), waits_.end(), std::pair(id, size_t{0}));
    for (; wait != waits_.end() && wait->first == id; ++wait) {
      const SyncEdge& edge = syncs_.edges[wait->second];
      add(EndOf(edge.source), edge.inferred ? EdgeKind::kInferredSync : EdgeKind::kSync,
          wait->second);
    }
    if (graph_before_[id.value] != before) {
      add(EndOf(graph_before_[id.value]), EdgeKind::kStream);
    }
    const HostId launch = view_.index.correlation.launch_of[id.value];
    add(launch.valid() ? launch_nodes_[launch.value] : kNoNode, EdgeKind::kLaunch);
  }

  // The end node of other work of the device that ended long after all reasons, or kNoNode.
  NodeId InferredReason(DeviceId id) const {
    if (device_before_.empty() || !device_before_[id.value].valid()) {
      return kNoNode;
    }
    int64_t ready_ns = view_.trace.begin_ns();
    for (const Reason& reason : reasons_) {
      ready_ns = std::max(ready_ns, builder_.TimeOf(reason.node));
    }
    const NodeId end = EndOf(device_before_[id.value]);
    return builder_.TimeOf(end) > ready_ns + kUsualDelayNs ? end : kNoNode;
  }

  // Adds edges from all reasons. The latest one, and the first of equally late ones, has the time
  // as weight.
  void Tie(DeviceId id, NodeId inferred) {
    const auto latest =
        std::max_element(reasons_.begin(), reasons_.end(), [&](const Reason& a, const Reason& b) {
          return builder_.TimeOf(a.node) < builder_.TimeOf(b.node);
        });
    const int64_t start_ns = builder_.TimeOf(start_of_[id.value]);
    if (inferred != kNoNode) {
      builder_.AddEdge(inferred, start_of_[id.value], start_ns - builder_.TimeOf(inferred),
                       EdgeKind::kInferredWork);
    }
    for (auto reason = reasons_.begin(); reason != reasons_.end(); ++reason) {
      const bool is_last = reason == latest && inferred == kNoNode;
      const int64_t delay_ns = std::max(start_ns - builder_.TimeOf(reason->node), int64_t{0});
      const int64_t weight_ns = is_last ? delay_ns : 0;
      builder_.AddEdge(reason->node, start_of_[id.value], weight_ns, reason->kind);
      if (reason->sync != Reason::kNoSync) {
        sync_weight_ns_[reason->sync] = weight_ns;
      }
    }
  }

  const RankView& view_;
  const DeviceEvents& device_;
  const DeviceClocks& clocks_;
  const SyncEdges& syncs_;
  const ColumnData<NodeId>& launch_nodes_;
  GraphBuilder& builder_;
  ColumnData<int64_t>& sync_weight_ns_;
  ColumnData<NodeId> start_of_;
  std::vector<DeviceId> graph_before_;              // per device row
  std::vector<DeviceId> device_before_;             // per device row; empty: not to be inferred
  std::vector<std::pair<DeviceId, size_t>> waits_;  // target and index of stream waits, sorted
  std::vector<Reason> reasons_;                     // of the current work
};

}  // namespace

ColumnData<NodeId> AddDeviceWork(const RankView& view, const DeviceFacts& facts,
                                 GraphBuilder& builder, ColumnData<int64_t>& sync_weight_ns) {
  return DeviceEdges(view, facts, builder, sync_weight_ns).Add();
}

namespace {

// A call that finds the queue this full, compared with the longest queue, and takes this many times
// its usual time has waited.
constexpr double kFullShare = 0.97;
constexpr double kTimesUsual = 1.5;

// A launch in the queue of one stream.
struct QueuedLaunch {
  int64_t at_ns = 0;
  HostId call;     // invalid: it was made before the recording began
  DeviceId first;  // the first work of the launch on the stream
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
  // Inherited work takes places of the queue too: it was launched before all recorded calls.
  void CollectLaunches(uint32_t first_row, uint32_t end_row) {
    launches_.clear();
    for (const uint32_t row : EachRow(first_row, end_row)) {
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

  // Whether inherited work belongs to the same graph launch as the work collected last.
  bool IsOfSameLaunch(DeviceId id) const {
    return !launches_.empty() && IsCorrelation(device_.correlation[id.value]) &&
           device_.correlation[id.value] == device_.correlation[launches_.back().first.value];
  }

  size_t StartedBy(int64_t ns) const {
    return static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), ns) -
                               starts_.begin());
  }

  // Visits the launches of streams whose queue was long enough to show its limit.
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
    for (const size_t i : EachIndex(launches_.size())) {
      while (started < starts_.size() && starts_[started] <= launches_[i].at_ns) {
        ++started;
      }
      waiting_.push_back(i > started ? i - started : 0);
      // Work from before the recording says nothing about how many launches the queue takes.
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
    // Near the limit, other work that started during the call may have freed the place.
    const size_t started = is_long ? StartedBy(end_ns) : 0;
    const QueuedLaunch& last = launches_[started == 0 ? 0 : std::min(started, i) - 1];
    const bool was_full = is_long && last.start_ns > begin_ns && last.start_ns <= end_ns;
    const QueuedLaunch& frees = was_full ? last : launches_[i - longest];
    if (frees.start_ns <= end_ns) {  // otherwise launches of several threads overtook each other
      found_.push_back({call, frees.first, usual_ns, was_full});
    }
  }

  // How long calls take, by name: the median of the calls that found room; where there are none,
  // the tenth percentile.
  void MeasureCalls() {
    std::vector<std::vector<int64_t>> all(view_.trace.strings().size());
    std::vector<std::vector<int64_t>> roomy(all.size());
    const Correlation& links = view_.index.correlation;
    for (const uint32_t row : EachRow(host_.size())) {
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

  // The value that one in `parts` values does not exceed.
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
  std::vector<QueuedLaunch> launches_;  // of the current stream, by launch
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
