#include "borescope/analysis/measures/event_graph/device_edges.h"

#include <algorithm>
#include <map>
#include <queue>
#include <span>
#include <utility>

#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// Asked for moments in order of time: which of the work added so far ended last.
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

// One thing that work waits for.
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

  // On the clock of the host, and within the recording, which clocks must not make longer.
  int64_t HostTime(int64_t ns, uint32_t row) const {
    return std::clamp(ns + clocks_.SkewOf(device_.track[row]), view_.trace.begin_ns(),
                      view_.trace.end_ns());
  }

  void AddNodes() {
    for (uint32_t row = 0; row < device_.size(); ++row) {
      CheckStopAt(row);
      if (IsWork(DeviceId{row})) {
        const int64_t begin_ns = HostTime(device_.ts_ns[row], row);
        const int64_t end_ns = HostTime(device_.end_ns({row}), row);
        start_of_[row] = builder_.AddNode(begin_ns, NodeSide::kDevice, row);
        const NodeId end = builder_.AddNode(end_ns, NodeSide::kDevice, row);
        builder_.AddEdge(start_of_[row], end, end_ns - begin_ns, EdgeKind::kWork);
      }
    }
  }

  // Of launches that start work on several streams: what of it ended before each work began.
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

  // Of devices with several streams whose waits for each other were not recorded: which of their
  // work had ended when each work began.
  void FindBeforeOnDevice() {
    if (syncs_.has_records) {
      return;
    }
    device_before_.resize(device_.size());
    std::map<int64_t, std::vector<uint32_t>> tracks_of;  // by number of the device
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
      for (uint32_t row = tracks.first_row[track]; row < tracks.end_row[track]; ++row) {
        CheckStopAt(row);
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
    for (size_t i = 0; i < syncs_.edges.size(); ++i) {
      CheckStopAt(i);
      if (syncs_.edges[i].kind == SyncKind::kStreamWait) {
        waits_.emplace_back(syncs_.edges[i].target, i);
      }
    }
    std::sort(waits_.begin(), waits_.end());
  }

  void AddTrack(uint32_t first_row, uint32_t end_row) {
    LastEnded ended(device_);
    for (uint32_t row = first_row; row < end_row; ++row) {
      CheckStopAt(row);
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

  // The end of other work of the device that ended long after all reasons; kNoNode: none.
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

  // Edges from all reasons; the latest, the first of equals, carries the time.
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
  std::vector<Reason> reasons_;                     // of the work at hand
};

}  // namespace

ColumnData<NodeId> AddDeviceWork(const RankView& view, const DeviceFacts& facts,
                                 GraphBuilder& builder, ColumnData<int64_t>& sync_weight_ns) {
  return DeviceEdges(view, facts, builder, sync_weight_ns).Add();
}

}  // namespace borescope::internal
