#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kEngine = "autograd::engine";

// The time that the events of a thread fill.
int64_t FilledTime(const Trace& trace, uint32_t track) {
  int64_t filled_ns = 0;
  int64_t until_ns = trace.begin_ns();
  for (const uint32_t row :
       EachRow(trace.tracks().first_row[track], trace.tracks().end_row[track])) {
    const int64_t end_ns = trace.host().end_ns(HostId{row});
    if (trace.host().kind[row] != HostKind::kOther && end_ns > until_ns) {
      filled_ns += end_ns - std::max(until_ns, trace.host().ts_ns[row]);
      until_ns = end_ns;
    }
  }
  return filled_ns;
}

bool IsThread(const Tracks& tracks, uint32_t track) {
  return tracks.kind[track] == TrackKind::kHost && tracks.is_async[track] == 0 &&
         tracks.first_row[track] != tracks.end_row[track];
}

// Per track: whether the thread has operators or calls. Python frames alone do not mean work:
// helper threads sleep in them, and the profiler writes frames of threads that it does not know as
// those of another process.
std::vector<char> FindWorkers(const Trace& trace) {
  const HostEvents& host = trace.host();
  std::vector<char> workers(trace.tracks().size());
  for (uint32_t row = 0; row < host.size(); ++row) {
    const HostKind kind = host.kind[row];
    workers[host.track[row].value] |= kind == HostKind::kOp || kind == HostKind::kRuntime ? 1 : 0;
  }
  // Where no thread has any, frames are all that is known.
  const bool has_work = std::find(workers.begin(), workers.end(), 1) != workers.end();
  return has_work ? workers : std::vector<char>(workers.size(), 1);
}

// Per process: its main thread.
std::map<int64_t, uint32_t> FindMains(const RankView& view, const std::vector<char>& engines) {
  const Tracks& tracks = view.trace.tracks();
  std::map<int64_t, uint32_t> mains;
  for (const Step& step : view.index.steps.steps) {
    const uint32_t track = view.trace.host().track[step.annotation.value].value;
    mains.try_emplace(tracks.pid[track], track);
  }
  const std::vector<char> workers = FindWorkers(view.trace);
  std::map<int64_t, std::pair<int64_t, uint32_t>> fullest;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool may_lead = workers[track] != 0 && engines[track] == 0;
    if (IsThread(tracks, track) && may_lead && !mains.contains(tracks.pid[track])) {
      const int64_t filled_ns = FilledTime(view.trace, track);
      auto& [most_ns, best] = fullest.try_emplace(tracks.pid[track], -1, 0).first->second;
      if (filled_ns > most_ns) {
        most_ns = filled_ns;
        best = track;
      }
    }
  }
  for (const auto& [pid, found] : fullest) {
    if (found.first > 0) {
      mains.try_emplace(pid, found.second);
    }
  }
  return mains;
}

}  // namespace

std::vector<char> FindEngineNames(const Trace& trace) {
  std::vector<char> is_engine_name(trace.strings().size());
  for (uint32_t name = 0; name < is_engine_name.size(); ++name) {
    is_engine_name[name] = trace.Text({name}).starts_with(kEngine) ? 1 : 0;
  }
  return is_engine_name;
}

std::vector<char> FindEngines(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<char> engines(view.trace.tracks().size());
  for (const ForwardBackwardLink& link : view.index.forward_backward) {
    const TrackId track = host.track[link.backward.value];
    if (track != host.track[link.forward.value]) {
      engines[track.value] = 1;
    }
  }
  const std::vector<char> is_engine_name = FindEngineNames(view.trace);
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kOp && is_engine_name[host.name[row].value] != 0) {
      engines[host.track[row].value] = 1;
    }
  }
  // A thread whose forward operators run backward on another thread may run some operators of the
  // engine itself, those that need no device.
  for (const ForwardBackwardLink& link : view.index.forward_backward) {
    const TrackId track = host.track[link.forward.value];
    if (track != host.track[link.backward.value]) {
      engines[track.value] = 0;
    }
  }
  for (const Step& step : view.index.steps.steps) {
    engines[host.track[step.annotation.value].value] = 0;
  }
  return engines;
}

std::vector<ThreadFacts> FindThreads(const RankView& view) {
  const Tracks& tracks = view.trace.tracks();
  const std::map<int64_t, uint32_t> mains = FindMains(view, FindEngines(view));
  std::vector<ThreadFacts> threads;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (IsThread(tracks, track)) {
      const auto main = mains.find(tracks.pid[track]);
      threads.push_back({TrackId{track}, main != mains.end() && main->second == track});
    }
  }
  return threads;
}

// How the main thread and the threads of the autograd engine hand over to each other.

namespace {

// One end of an event of a thread.
struct HostTimestamp {
  HostId event;
  bool is_end = false;
};

// One thread continues where another stopped.
struct Handover {
  HostTimestamp from;
  HostTimestamp to;
};

// The main thread gives work to the autograd engine in a stretch in which none of its own events
// begins or ends, and continues when that work is done. Operators of the engine that begin in the
// stretch follow what ended last before them in it, and the end of the stretch follows the last of
// them. Where the main thread itself runs operators of the engine in between, it waits for each of
// them.
struct ThreadHandovers {
  std::vector<ThreadFacts> threads;  // as FindThreads
  std::vector<Handover> handovers;
  // Flags of HostMark, by event: both ends of handovers, and the stretches in which the main thread
  // waits.
  std::vector<std::pair<HostId, uint8_t>> marks;
};

// Time in which a thread is in operators and calls without a break.
struct Busy {
  HostId first;  // what begins it
  HostId last;   // what ends it
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

std::vector<Busy> BusyOf(const Trace& trace, TrackId track) {
  const HostEvents& host = trace.host();
  std::vector<Busy> result;
  for (const uint32_t row :
       EachRow(trace.tracks().first_row[track.value], trace.tracks().end_row[track.value])) {
    const HostId id{row};
    if (host.kind[row] != HostKind::kOp && host.kind[row] != HostKind::kRuntime) {
      continue;
    }
    if (result.empty() || host.ts_ns[row] >= result.back().end_ns) {
      result.push_back({id, id, host.ts_ns[row], host.end_ns(id)});
    } else if (host.end_ns(id) > result.back().end_ns) {
      result.back().last = id;
      result.back().end_ns = host.end_ns(id);
    }
  }
  return result;
}

// Where an event of the main thread begins or ends.
struct Boundary {
  HostTimestamp at;
  int64_t ns = 0;
  bool is_work = false;        // of an operator or a call
  bool is_of_engine = false;   // of an operator of the engine
  bool may_wait_after = true;  // the thread is then in no call, and in no operator of the engine
};

// Follows the main thread from boundary to boundary, with the engine next to it.
class MainThread {
 public:
  MainThread(const Trace& trace, const std::vector<char>& is_engine_name,
             std::span<const Busy> engine, ThreadHandovers& found)
      : host_(trace.host()), is_engine_name_(is_engine_name), engine_(engine), found_(found) {}

  void Pass(HostId id, bool is_end, int64_t at_ns) {
    const HostKind kind = host_.kind[id.value];
    const bool is_of_engine =
        kind == HostKind::kOp && is_engine_name_[host_.name[id.value].value] != 0;
    if (is_end) {
      open_.pop_back();
    } else {
      const bool was_in_engine = !open_.empty() && open_.back().in_engine;
      open_.push_back({kind == HostKind::kRuntime, was_in_engine || is_of_engine});
    }
    const bool is_work = kind == HostKind::kOp || kind == HostKind::kRuntime;
    const bool may_wait = open_.empty() || (!open_.back().is_call && !open_.back().in_engine);
    Reach({{id, is_end}, at_ns, is_work, is_of_engine, may_wait});
  }

  // Adds what the engine does after the last event of the main thread.
  void Finish() {
    Begin(engine_.size());
    if (last_.at.event.valid()) {
      AddPending();
    }
  }

 private:
  struct Frame {
    bool is_call;
    bool in_engine;
  };
  // A busy time of the engine, ordered by its end, then by its number.
  struct Ending {
    int64_t end_ns;
    size_t number;

    auto operator<=>(const Ending&) const = default;
  };

  void Reach(const Boundary& boundary) {
    size_t end = next_;
    while (end < engine_.size() && engine_[end].begin_ns < boundary.ns) {
      ++end;
    }
    Begin(end);
    EndUntil(boundary.ns);
    // Python frames and annotations do not end a stretch while the engine is running.
    if (boundary.is_work || running_.empty()) {
      Divide(boundary);
    }
  }

  void Begin(size_t end) {
    for (; next_ < end; ++next_) {
      CheckStopAt(next_);
      EndUntil(engine_[next_].begin_ns);
      pending_.push_back({latest_at_, {engine_[next_].first, false}});
      running_.push({engine_[next_].end_ns, next_});
    }
  }

  void EndUntil(int64_t ns) {
    for (; !running_.empty() && running_.top().end_ns <= ns; running_.pop()) {
      if (running_.top() > latest_) {
        latest_ = running_.top();
        latest_at_ = {engine_[latest_.number].last, true};
      }
    }
  }

  // Ends a stretch of the main thread, and begins the next one.
  void Divide(const Boundary& boundary) {
    if (last_.at.event.valid() && last_.may_wait_after) {
      AddPending();
      if (HasWaited(boundary)) {
        Add({latest_at_, boundary.at});
        Mark(last_.at);
        found_.marks.emplace_back(last_.at.event,
                                  last_.at.is_end ? kMarkReleases : kMarkReleasesAtStart);
      }
    }
    pending_.clear();
    latest_ = {boundary.ns, 0};
    latest_at_ = boundary.at;
    is_engine_running_ = !running_.empty();
    last_ = boundary;
  }

  // Whether the main thread waited for the engine in the stretch that ends there.
  bool HasWaited(const Boundary& boundary) const {
    const bool is_in_loop = last_.is_of_engine || boundary.is_of_engine;
    const bool has_engine = !pending_.empty() || (is_in_loop && is_engine_running_);
    const bool is_released = running_.empty() || boundary.is_of_engine;
    return has_engine && is_released && latest_at_.event != last_.at.event;
  }

  void AddPending() {
    for (const Handover& handover : pending_) {
      Add(handover);
    }
  }

  void Add(const Handover& handover) {
    found_.handovers.push_back(handover);
    Mark(handover.from);
    Mark(handover.to);
  }

  void Mark(HostTimestamp moment) {
    found_.marks.emplace_back(moment.event, moment.is_end ? kMarkEnd : kMarkStart);
  }

  const HostEvents& host_;
  const std::vector<char>& is_engine_name_;
  std::span<const Busy> engine_;  // by begin
  ThreadHandovers& found_;
  std::vector<Frame> open_;  // events of the main thread
  size_t next_ = 0;          // the first busy time that has not begun
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running_;  // begun, not ended
  // The current stretch: its begin, whether the engine was running then, what ended last in it, and
  // its handovers.
  Boundary last_;
  bool is_engine_running_ = false;
  Ending latest_{0, 0};
  HostTimestamp latest_at_;
  std::vector<Handover> pending_;
};

// Per process: the busy times of its engine, by begin.
std::map<int64_t, std::vector<Busy>> BusyEngines(const RankView& view,
                                                 const std::vector<ThreadFacts>& threads) {
  const Tracks& tracks = view.trace.tracks();
  const std::vector<char> engines = FindEngines(view);
  std::map<int64_t, std::vector<Busy>> engine_of;
  for (const ThreadFacts& thread : threads) {
    if (engines[thread.track.value] != 0 && !thread.is_main) {
      std::vector<Busy>& all = engine_of[tracks.pid[thread.track.value]];
      const std::vector<Busy> more = BusyOf(view.trace, thread.track);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  for (auto& [pid, all] : engine_of) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Busy& a, const Busy& b) { return a.begin_ns < b.begin_ns; });
  }
  return engine_of;
}

ThreadHandovers FindHandovers(const RankView& view) {
  ThreadHandovers found{FindThreads(view), {}, {}};
  const std::map<int64_t, std::vector<Busy>> engine_of = BusyEngines(view, found.threads);
  const std::vector<char> is_engine_name = FindEngineNames(view.trace);
  // Boundaries do not depend on marks, so none are set here.
  const HostFacts no_facts{std::vector<uint8_t>(view.trace.host().size()),
                           std::vector<char>(view.trace.strings().size()),
                           {}};
  for (const ThreadFacts& thread : found.threads) {
    const auto engine = engine_of.find(view.trace.tracks().pid[thread.track.value]);
    if (thread.is_main && engine != engine_of.end()) {
      MainThread main(view.trace, is_engine_name, engine->second, found);
      SweepThread(
          view.trace, no_facts, thread, [](const ThreadPiece&) {},
          [&](HostId id, bool is_end, int64_t at_ns) { main.Pass(id, is_end, at_ns); });
      main.Finish();
    }
  }
  return found;
}

// Found once for each question, as they are the same in every graph of a recording. O(rows log
// rows).
std::shared_ptr<const ThreadHandovers> SharedHandovers(const RankView& view) {
  return view.Shared<ThreadHandovers>([&] { return FindHandovers(view); });
}

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

  // Nearly all nodes are marked ends of events or device work, and device work has edges from its
  // launch and from the work before it.
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
    for (const uint32_t row : EachRow(trace_.device().size())) {
      const HostId launch = view_.index.correlation.launch_of[row];
      if (IsDeviceWork(trace_.device().kind[row]) && launch.valid()) {
        result_.facts.marks[launch.value] |= kMarkStart;
      }
    }
  }

  // On the host's clock.
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
    for (const uint32_t row : EachRow(trace_.host().size())) {
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

  // Edges from device work to the calls that wait for it: a call ends when the last of that work
  // ends.
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
    // Where clocks drift, the last work may seem to end after the call.
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
