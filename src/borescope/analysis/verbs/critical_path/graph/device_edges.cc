#include "borescope/analysis/verbs/critical_path/graph/device_edges.h"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

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
  DeviceEdges(const RankView& view, const SyncEdges& syncs, const std::vector<NodeId>& launch_nodes,
              GraphBuilder& builder, std::vector<int64_t>& sync_weight_ns)
      : view_(view),
        device_(view.trace.device()),
        syncs_(syncs),
        launch_nodes_(launch_nodes),
        builder_(builder),
        sync_weight_ns_(sync_weight_ns),
        start_of_(device_.size(), kNoNode),
        graph_before_(device_.size()) {}

  std::vector<NodeId> Add() {
    AddNodes();
    FindGraphs();
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

  void AddNodes() {
    for (uint32_t row = 0; row < device_.size(); ++row) {
      CheckStopAt(row);
      if (IsWork(DeviceId{row})) {
        start_of_[row] = builder_.AddNode(device_.ts_ns[row], NodeSide::kDevice, row);
        const NodeId end = builder_.AddNode(device_.end_ns({row}), NodeSide::kDevice, row);
        builder_.AddEdge(start_of_[row], end, device_.dur_ns[row], EdgeKind::kWork);
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
        Tie(DeviceId{row});
        ended.Add(DeviceId{row});
      }
    }
  }

  NodeId EndOf(DeviceId id) const { return id.valid() ? start_of_[id.value] + 1 : kNoNode; }

  void FindReasons(DeviceId id, DeviceId before) {
    reasons_.clear();
    const auto add = [&](NodeId node, EdgeKind kind, size_t sync = Reason::kNoSync) {
      if (node != kNoNode && builder_.TimeOf(node) <= device_.ts_ns[id.value]) {
        reasons_.push_back({node, kind, sync});
      }
    };
    add(EndOf(before), EdgeKind::kStream);
    auto wait = std::lower_bound(waits_.begin(), waits_.end(), std::pair(id, size_t{0}));
    for (; wait != waits_.end() && wait->first == id; ++wait) {
      add(EndOf(syncs_.edges[wait->second].source), EdgeKind::kSync, wait->second);
    }
    if (graph_before_[id.value] != before) {
      add(EndOf(graph_before_[id.value]), EdgeKind::kStream);
    }
    const HostId launch = view_.index.correlation.launch_of[id.value];
    add(launch.valid() ? launch_nodes_[launch.value] : kNoNode, EdgeKind::kLaunch);
  }

  // Edges from all reasons; the latest, the first of equals, carries the time.
  void Tie(DeviceId id) {
    const auto latest =
        std::max_element(reasons_.begin(), reasons_.end(), [&](const Reason& a, const Reason& b) {
          return builder_.TimeOf(a.node) < builder_.TimeOf(b.node);
        });
    for (auto reason = reasons_.begin(); reason != reasons_.end(); ++reason) {
      const int64_t weight_ns =
          reason == latest ? device_.ts_ns[id.value] - builder_.TimeOf(reason->node) : int64_t{0};
      builder_.AddEdge(reason->node, start_of_[id.value], weight_ns, reason->kind);
      if (reason->sync != Reason::kNoSync) {
        sync_weight_ns_[reason->sync] = weight_ns;
      }
    }
  }

  const RankView& view_;
  const DeviceEvents& device_;
  const SyncEdges& syncs_;
  const std::vector<NodeId>& launch_nodes_;
  GraphBuilder& builder_;
  std::vector<int64_t>& sync_weight_ns_;
  std::vector<NodeId> start_of_;
  std::vector<DeviceId> graph_before_;              // per device row
  std::vector<std::pair<DeviceId, size_t>> waits_;  // target and index of stream waits, sorted
  std::vector<Reason> reasons_;                     // of the work at hand
};

}  // namespace

std::vector<NodeId> AddDeviceWork(const RankView& view, const SyncEdges& syncs,
                                  const std::vector<NodeId>& launch_nodes, GraphBuilder& builder,
                                  std::vector<int64_t>& sync_weight_ns) {
  return DeviceEdges(view, syncs, launch_nodes, builder, sync_weight_ns).Add();
}

}  // namespace borescope::internal
