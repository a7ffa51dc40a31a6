#include "borescope/analysis/measures/event_graph/build_graph.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "borescope/analysis/core/selection/recorded_syncs.h"
#include "borescope/analysis/measures/event_graph/device_edges.h"
#include "borescope/analysis/measures/event_graph/handovers.h"
#include "borescope/analysis/measures/idle/data_loading.h"
#include "borescope/analysis/measures/shared_inherited_work.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

class Construction {
 public:
  explicit Construction(const RankView& view)
      : view_(view),
        trace_(view.trace),
        builder_(view.trace.begin_ns(), view.trace.end_ns()),
        start_of_(view.trace.host().size(), kNoNode),
        end_of_(view.trace.host().size(), kNoNode) {}

  RecordingGraph Build(std::string_view data_load, GraphUse use) {
    const HostEvents& host = trace_.host();
    const std::shared_ptr<const ThreadHandovers> threads = SharedHandovers(view_);
    result_.facts = {std::vector<uint8_t>(host.size()), FindDataLoading(trace_, data_load),
                     threads->threads};
    const std::shared_ptr<const ClockedSyncs> syncs = SharedClockedSyncs(view_);
    result_.clocks = syncs->clocks;
    result_.syncs = syncs->syncs;
    result_.inherited = SharedInheritedWork(view_)->has_on_track;
    result_.inherited.resize(view_.trace.tracks().size(), 0);
    MarkLaunches();
    MarkWaits();
    if (use == GraphUse::kReplay) {
      MarkSteps();
      MarkArrivals();
      MarkQueues();
    }
    for (const auto& [event, marks] : threads->marks) {
      result_.facts.marks[event.value] |= marks;
    }
    Reserve(threads->handovers.size());
    for (const ThreadFacts& thread : result_.facts.threads) {
      AddThread(thread);
    }
    result_.start_of_work = AddDeviceWork(view_, {result_.clocks, result_.syncs, start_of_},
                                          builder_, result_.sync_weight_ns);
    AddCallWaits();
    for (const QueuedCall& queued : result_.queued) {
      builder_.AddEdge(result_.start_of_work[queued.frees.value], end_of_[queued.call.value], 0,
                       EdgeKind::kQueue);
    }
    AddHandovers(threads->handovers);
    result_.graph = std::move(builder_).Finish();
    if (use == GraphUse::kReplay) {
      result_.start_of_event = std::move(start_of_);
      result_.end_of_event = std::move(end_of_);
    }
    return std::move(result_);
  }

 private:
  void AddHandovers(const std::vector<Handover>& handovers) {
    for (const Handover& handover : handovers) {
      const NodeId from = NodeOf(handover.from);
      const NodeId to = NodeOf(handover.to);
      if (from != kNoNode && to != kNoNode && builder_.TimeOf(from) <= builder_.TimeOf(to)) {
        builder_.AddEdge(from, to, builder_.TimeOf(to) - builder_.TimeOf(from),
                         EdgeKind::kHandover);
      }
    }
  }

  // Nearly all nodes are marked moments or device work, and this has a launch and one before it.
  void Reserve(size_t handovers) {
    size_t nodes = 2 * result_.facts.threads.size();
    for (const uint8_t marks : result_.facts.marks) {
      nodes += ((marks & kMarkStart) != 0 ? 1 : 0) + ((marks & kMarkEnd) != 0 ? 1 : 0);
    }
    const auto& kinds = trace_.device().kind;
    const auto work = static_cast<size_t>(std::count_if(kinds.begin(), kinds.end(), IsDeviceWork));
    builder_.Reserve(nodes + 2 * work, nodes + 3 * work + result_.syncs.edges.size() + handovers);
  }

  void MarkLaunches() {
    for (uint32_t row = 0; row < trace_.device().size(); ++row) {
      CheckStopAt(row);
      const HostId launch = view_.index.correlation.launch_of[row];
      if (IsDeviceWork(trace_.device().kind[row]) && launch.valid()) {
        result_.facts.marks[launch.value] |= kMarkStart;
      }
    }
  }

  // On the clock of the host.
  int64_t EndOfWork(DeviceId id) const {
    return trace_.device().end_ns(id) + result_.clocks.SkewOf(trace_.device().track[id.value]);
  }

  // Whether the call was still running when the work ended: then it has waited for it.
  bool IsReleasedBy(const SyncEdge& edge) const {
    return edge.kind != SyncKind::kStreamWait && edge.kind != SyncKind::kEventQuery &&
           EndOfWork(edge.source) > trace_.host().ts_ns[edge.call.value];
  }

  void MarkWaits() {
    for (const SyncEdge& edge : result_.syncs.edges) {
      if (edge.kind != SyncKind::kStreamWait) {
        uint8_t& marks = result_.facts.marks[edge.call.value];
        marks |= kMarkStart | kMarkEnd;
        if (IsReleasedBy(edge)) {
          marks |= kMarkWaits;
        }
      }
    }
  }

  void MarkSteps() {
    for (const Step& step : view_.steps().steps) {
      result_.facts.marks[step.annotation.value] |= kMarkStart | kMarkEnd;
    }
  }

  void MarkArrivals() {
    const std::vector<char> is_arrival = FindArrivals(trace_);
    for (uint32_t row = 0; row < trace_.host().size(); ++row) {
      CheckStopAt(row);
      if (is_arrival[trace_.host().name[row].value] != 0) {
        result_.facts.marks[row] |= kMarkStart | kMarkEnd;
      }
    }
  }

  void MarkQueues() {
    result_.queued = FindQueuedCalls(view_, result_.clocks);
    for (const QueuedCall& queued : result_.queued) {
      result_.facts.marks[queued.call.value] |=
          kMarkStart | kMarkEnd | (queued.was_full ? kMarkWaits : 0);
    }
  }

  NodeId NodeOf(HostTimestamp moment) const {
    return moment.is_end ? end_of_[moment.event.value] : start_of_[moment.event.value];
  }

  // The nodes of a thread and the stretches between them.
  void AddThread(ThreadFacts thread) {
    NodeId last = kNoNode;
    int64_t running_ns = 0;
    HostId latest;
    int64_t latest_ns = 0;
    const auto add = [&](HostId id, int64_t at_ns) {
      const NodeId node = builder_.AddNode(at_ns, NodeSide::kHost, id.value);
      builder_.AddEdge(last, node, running_ns, EdgeKind::kThread);
      result_.first_node.back() = last == kNoNode ? node : result_.first_node.back();
      running_ns = 0;
      last = node;
      return node;
    };
    result_.first_node.push_back(kNoNode);
    SweepThread(
        trace_, result_.facts, thread,
        [&](const ThreadPiece& piece) {
          running_ns += piece.is_running ? piece.end_ns - piece.begin_ns : 0;
        },
        [&](HostId id, bool is_end, int64_t at_ns) {
          const uint8_t mark = is_end ? kMarkEnd : kMarkStart;
          if ((result_.facts.marks[id.value] & mark) != 0 || last == kNoNode) {
            (is_end ? end_of_ : start_of_)[id.value] = add(id, at_ns);
          }
          latest = id;
          latest_ns = at_ns;
        });
    add(latest, latest_ns);
    result_.end_node.push_back(last + 1);
  }

  // What the calls wait for: the last of it lets them go on.
  void AddCallWaits() {
    const std::vector<SyncEdge>& edges = result_.syncs.edges;
    for (size_t first = 0; first < edges.size();) {
      size_t end = first;
      int64_t last_ns = kMissing;
      for (; end < edges.size() && edges[end].call == edges[first].call; ++end) {
        if (IsReleasedBy(edges[end])) {
          last_ns = std::max(last_ns, EndOfWork(edges[end].source));
        }
      }
      for (; first < end; ++first) {
        AddCallWait(first, last_ns);
      }
    }
  }

  void AddCallWait(size_t index, int64_t last_ns) {
    const SyncEdge& edge = result_.syncs.edges[index];
    if (edge.kind == SyncKind::kStreamWait) {
      return;
    }
    // The last work may seem to end after the call, where clocks drift.
    const int64_t weight_ns =
        IsReleasedBy(edge) ? std::max(trace_.host().end_ns(edge.call) - last_ns, int64_t{0}) : 0;
    result_.sync_weight_ns[index] = weight_ns;
    builder_.AddEdge(result_.start_of_work[edge.source.value] + 1, end_of_[edge.call.value],
                     weight_ns, edge.inferred ? EdgeKind::kInferredSync : EdgeKind::kSync);
  }

  const RankView& view_;
  const Trace& trace_;
  GraphBuilder builder_;
  RecordingGraph result_;
  ColumnData<NodeId> start_of_;  // per host row, where marked
  ColumnData<NodeId> end_of_;
};

}  // namespace

RecordingGraph BuildGraph(const RankView& view, std::string_view data_load, GraphUse use) {
  return Construction(view).Build(data_load, use);
}

EdgeId ThreadEdge(const EventGraph& graph, NodeId node) {
  for (EdgeId edge = graph.first_edge[node]; edge < graph.first_edge[node + 1]; ++edge) {
    if (graph.kind[edge] == EdgeKind::kThread && graph.target[edge] == node + 1) {
      return edge;
    }
  }
  return kNoEdge;
}

}  // namespace borescope::internal
