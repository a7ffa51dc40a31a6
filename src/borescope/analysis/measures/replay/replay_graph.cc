#include "borescope/analysis/measures/replay/replay_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

constexpr size_t kMostClasses = 65'000;

std::string_view WorkName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kMemcpy:
      return "memcpy";
    case DeviceKind::kMemset:
      return "memset";
    default:
      return "kernel";
  }
}

uint64_t Packed(const LagKey& key) {
  return uint64_t{key.call.value} << 24 | static_cast<uint64_t>(key.kind) << 16 |
         static_cast<uint64_t>(key.work) << 12 | static_cast<uint64_t>(key.from) << 8 |
         (key.inferred ? 1 : 0);
}

}  // namespace

std::string_view LagKindName(LagKind kind) {
  switch (kind) {
    case LagKind::kLaunch:
      return "launch";
    case LagKind::kStream:
      return "stream";
    case LagKind::kGraph:
      return "graph";
    case LagKind::kEvent:
      return "event";
    case LagKind::kWait:
      return "wait";
    case LagKind::kQueue:
      return "queue";
    case LagKind::kCall:
      return "call";
  }
  return "";
}

LagClassId LagClasses::IdOf(const LagKey& key) {
  const uint64_t packed = Packed(key);
  Found& last = last_[static_cast<size_t>(key.kind)];
  if (last.packed == packed) {
    return last.id;
  }
  const auto next = static_cast<LagClassId>(std::min(keys_.size(), kMostClasses));
  const auto [found, is_new] = ids_.try_emplace(packed, next);
  if (is_new && keys_.size() <= kMostClasses) {
    keys_.push_back(key);
  }
  last = {packed, found->second};
  return found->second;
}

std::string LagClasses::Describe(const Trace& trace, LagClassId id) const {
  const LagKey& key = keys_[id];
  std::string call(key.call.valid() ? trace.Text(key.call) : std::string_view());
  const std::string work(WorkName(key.work));
  switch (key.kind) {
    case LagKind::kLaunch:
      return call + " → " + work;
    case LagKind::kStream:
      return std::string(WorkName(key.from)) + " → " + work;
    case LagKind::kGraph:
      return "within a graph";
    case LagKind::kEvent:
      return key.inferred ? "other stream, inferred" : "other stream";
    case LagKind::kWait:
      return (key.inferred ? "work → end of " + call + ", inferred" : "work → end of " + call);
    case LagKind::kQueue:
      return "start of work → end of the launch that waited for its place";
    case LagKind::kCall:
      return call + ", without a wait";
  }
  return call;
}

namespace {

// Work that began late is taken to have waited for other work only if that ended shortly before:
// within a tenth of the delay, limited to at least 8 us, about the time of a wait between streams,
// and at most 200 us.
constexpr int64_t kLeastLagNs = 8'000;
constexpr int64_t kMostLagNs = 200'000;
constexpr int64_t kDelaysPerLag = 10;

// Taking a batch for longer than this means waiting for it.
constexpr int64_t kLeastArrivalNs = 500'000;

struct Dependency {
  Place from;
  Place to;
  LagClassId lag_class;
  int64_t own_ns;
};

class ReplayBuilder {
 public:
  ReplayBuilder(const RankView& view, std::string_view data_load)
      : view_(view), trace_(view.trace) {
    result_.recording = BuildGraph(view, data_load, GraphUse::kReplay);
  }

  ReplayGraph Build() {
    const EventGraph& graph = Events();
    TopologicalOrder order = OrderNodes(graph);
    result_.node = std::move(order.nodes);
    result_.place_of = std::move(order.places);
    host_ns_.assign(graph.nodes(), 0);
    FindHandedTo();
    for (size_t thread = 0; thread < result_.recording.facts.threads.size(); ++thread) {
      SweepHost(thread);
    }
    result_.parts.shrink_to_fit();  // reserved for several times as many as there are places
    SeparateArrivals();
    result_.is_launched.assign(trace_.device().size(), 0);
    dependencies_.reserve(graph.edges());
    AddEdges();
    AddAnchors();
    AddCalls();
    AddArrivals();
    Sort();
    FindArrivalEdges();
    FindStretches();
    return std::move(result_);
  }

 private:
  const EventGraph& Events() const { return result_.recording.graph; }

  // Marks nodes with work that another thread hands over: they do not happen before the handover,
  // however early the thread was idle.
  void FindHandedTo() {
    const EventGraph& graph = Events();
    is_main_.assign(trace_.tracks().size(), 0);
    for (const ThreadFacts& thread : result_.recording.facts.threads) {
      is_main_[thread.track.value] = thread.is_main ? 1 : 0;
    }
    is_handed_to_.assign(graph.nodes(), 0);
    for (NodeId from = 0; from < graph.nodes(); ++from) {
      for (EdgeId edge = graph.first_edge[from]; edge < graph.first_edge[from + 1]; ++edge) {
        if (graph.kind[edge] == EdgeKind::kHandover && IsMain(from) != IsMain(graph.target[edge])) {
          is_handed_to_[graph.target[edge]] = 1;
        }
      }
    }
  }

  // Finds the own time of every stretch between two nodes of a thread, and the events that it
  // belongs to.
  void SweepHost(size_t thread) {
    const RecordingGraph& recording = result_.recording;
    NodeId node = recording.first_node[thread];
    const NodeId end = recording.end_node[thread];
    SweepThread(
        trace_, recording.facts, recording.facts.threads[thread],
        [&](const ThreadPiece& piece) {
          while (node + 1 < end && Events().ts_ns[node + 1] <= piece.begin_ns) {
            ++node;
          }
          if (node + 1 < end &&
              (piece.is_running || (piece.is_idle && is_handed_to_[node + 1] == 0))) {
            AddPart(node + 1, {kNoPlace, piece.is_idle ? HostId{} : piece.innermost,
                               piece.end_ns - piece.begin_ns, piece.is_loading});
          }
        },
        [](HostId, bool, int64_t) {});
  }

  // Separates the wait for a batch from taking it, which takes little time.
  void SeparateArrivals() {
    const HostEvents& host = trace_.host();
    const std::vector<char> is_arrival = FindArrivals(trace_);
    std::vector<double> own(host.size(), 1);
    for (const uint32_t row : EachRow(host.size())) {
      const HostId parent = view_.index.tree.parent[row];
      own[row] = parent.valid() ? own[parent.value] : 1;
      if (is_arrival[host.name[row].value] != 0 && own[row] == 1 &&
          host.dur_ns[row] > kLeastArrivalNs) {
        own[row] = static_cast<double>(kTakeBatchNs) / static_cast<double>(host.dur_ns[row]);
        result_.arrivals.push_back({HostId{row}, kNoEdge, kTakeBatchNs});
      }
    }
    for (size_t i = 0; !result_.arrivals.empty() && i < result_.parts.size(); ++i) {
      CheckStopAt(i);
      HostPart& part = result_.parts[i];
      if (part.event.valid() && own[part.event.value] != 1) {
        const int64_t kept_ns = std::llround(static_cast<double>(part.ns) * own[part.event.value]);
        host_ns_[result_.node[part.place]] -= part.ns - kept_ns;
        part.ns = kept_ns;
      }
    }
  }

  // Batches of other processes arrive independently of what this process does.
  void AddArrivals() {
    for (const BatchArrival& arrival : result_.arrivals) {
      const NodeId end = result_.recording.end_of_event[arrival.event.value];
      if (end != kNoNode) {
        Add(EventGraph::kBegin, end, kOwnLag,
            Events().ts_ns[end] - Events().ts_ns[EventGraph::kBegin]);
      }
    }
  }

  void FindArrivalEdges() {
    for (BatchArrival& arrival : result_.arrivals) {
      const NodeId end = result_.recording.end_of_event[arrival.event.value];
      const Place place = end == kNoNode ? 0 : result_.place_of[end];
      for (uint32_t edge = result_.first_edge[place]; edge < result_.first_edge[place + 1];
           ++edge) {
        if (result_.source[edge] == result_.place_of[EventGraph::kBegin]) {
          arrival.edge = edge;
        }
      }
    }
  }

  void AddPart(NodeId node, HostPart part) {
    part.place = result_.place_of[node];
    host_ns_[node] += part.ns;
    result_.parts.push_back(part);
  }

  void Add(NodeId from, NodeId to, LagClassId lag_class, int64_t own_ns) {
    const Place before = result_.place_of[from];
    const Place after = result_.place_of[to];
    if (before < after) {
      dependencies_.push_back({before, after, lag_class, own_ns});
    } else {
      ++result_.circular;
    }
  }

  void AddEdges() {
    // A call that waited for a place in a queue still needs its usual time as its own.
    for (const QueuedCall& queued : result_.recording.queued) {
      const NodeId end = result_.recording.end_of_event[queued.call.value];
      if (queued.was_full && end != kNoNode) {
        AddPart(end, {kNoPlace, queued.call,
                      std::min(queued.usual_ns, trace_.host().dur_ns[queued.call.value])});
      }
    }
    const EventGraph& graph = Events();
    for (NodeId from = 0; from < graph.nodes(); ++from) {
      CheckStopAt(from);
      for (EdgeId edge = graph.first_edge[from]; edge < graph.first_edge[from + 1]; ++edge) {
        AddEdge(from, edge);
      }
    }
  }

  void AddEdge(NodeId from, EdgeId edge) {
    const EventGraph& graph = Events();
    const NodeId to = graph.target[edge];
    const int64_t measured_ns = graph.ts_ns[to] - graph.ts_ns[from];
    switch (graph.kind[edge]) {
      case EdgeKind::kWork:
        return Add(from, to, kOwnLag, measured_ns);
      case EdgeKind::kThread:
        return Add(from, to, kOwnLag, host_ns_[to]);
      case EdgeKind::kEnds:
        return to == EventGraph::kEnd ? void() : Add(from, to, kOwnLag, measured_ns);
      case EdgeKind::kSync:
      case EdgeKind::kInferredSync:
        return Add(from, to, WaitClass(to, IsInferred(graph.kind[edge])), 0);
      case EdgeKind::kInferredWork:
        return IsPlausible(to, measured_ns)
                   ? Add(from, to, Class({.kind = LagKind::kEvent, .inferred = true}), 0)
                   : void();
      case EdgeKind::kStream:
        return Add(from, to, StreamClass(from, to), 0);
      case EdgeKind::kLaunch:
        result_.is_launched[graph.event[to]] = 1;
        return Add(from, to, LaunchClass(from, to), 0);
      case EdgeKind::kHandover:
        // A thread of the engine is busy between its own operators.
        return IsMain(from) == IsMain(to) ? void() : Add(from, to, kOwnLag, measured_ns);
      case EdgeKind::kQueue:
        return Add(from, to, Class({.kind = LagKind::kQueue}), 0);
    }
  }

  LagClassId Class(const LagKey& key) { return result_.classes.IdOf(key); }
  DeviceKind WorkAt(NodeId node) const { return trace_.device().kind[Events().event[node]]; }

  bool IsMain(NodeId node) const {
    return is_main_[trace_.host().track[Events().event[node]].value] != 0;
  }

  LagClassId WaitClass(NodeId to, bool inferred) {
    return Events().side[to] == NodeSide::kDevice
               ? Class({.kind = LagKind::kEvent, .inferred = inferred})
               : Class({.kind = LagKind::kWait,
                        .inferred = inferred,
                        .call = trace_.host().name[Events().event[to]]});
  }

  LagClassId StreamClass(NodeId from, NodeId to) {
    const auto& launch_of = view_.index.correlation.launch_of;
    const HostId launch = launch_of[Events().event[to]];
    return launch.valid() && launch == launch_of[Events().event[from]]
               ? Class({.kind = LagKind::kGraph})
               : Class({.kind = LagKind::kStream, .work = WorkAt(to), .from = WorkAt(from)});
  }

  LagClassId LaunchClass(NodeId from, NodeId to) {
    return Class({.kind = LagKind::kLaunch,
                  .work = WorkAt(to),
                  .call = trace_.host().name[Events().event[from]]});
  }

  // Whether the end of other work explains that work began late. `to`: its start.
  bool IsPlausible(NodeId to, int64_t lag_ns) const {
    const DeviceId id{Events().event[to]};
    int64_t ready_ns = Events().ts_ns[EventGraph::kBegin];
    const HostId launch = view_.index.correlation.launch_of[id.value];
    if (launch.valid() && result_.recording.start_of_event[launch.value] != kNoNode) {
      ready_ns = Events().ts_ns[result_.recording.start_of_event[launch.value]];
    }
    const int64_t delay_ns = Events().ts_ns[to] - ready_ns;
    return lag_ns <= std::max(kLeastLagNs, std::min(kMostLagNs, delay_ns / kDelaysPerLag));
  }

  // Anchors work whose launch was not recorded. If it began right after the work before it on its
  // stream, it waited for that work, and its launch was early enough. If it began later, its launch
  // is taken to be as long after the launch of the work before as its start was after that work; if
  // that launch is unknown too, the work cannot begin earlier than recorded.
  void AddAnchors() {
    const Tracks& tracks = trace_.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        AddAnchors(tracks.first_row[track], tracks.end_row[track]);
      }
    }
  }

  void AddAnchors(uint32_t first_row, uint32_t end_row) {
    const EventGraph& graph = Events();
    NodeId launched = EventGraph::kBegin;  // the stream's last launch call
    int64_t ended_ns = graph.ts_ns[EventGraph::kBegin] - kUsualDelayNs - 1;
    for (const uint32_t row : EachRow(first_row, end_row)) {
      const NodeId start = result_.recording.start_of_work[row];
      if (start == kNoNode) {
        continue;
      }
      if (result_.is_launched[row] != 0) {
        launched = result_.recording.start_of_event[view_.index.correlation.launch_of[row].value];
      } else if (graph.ts_ns[start] > ended_ns + kUsualDelayNs) {
        const NodeId from =
            graph.ts_ns[launched] <= graph.ts_ns[start] ? launched : NodeId{EventGraph::kBegin};
        Add(from, start, kOwnLag, graph.ts_ns[start] - graph.ts_ns[from]);
      }
      ended_ns = std::max(ended_ns, graph.ts_ns[start + 1]);
    }
  }

  // Calls that waited take some time even if there is nothing to wait for.
  void AddCalls() {
    HostId last;
    for (const SyncEdge& edge : result_.recording.syncs.edges) {
      const bool is_new = edge.call.valid() && edge.call != last;
      if (!is_new || edge.kind == SyncKind::kStreamWait ||
          (result_.recording.facts.marks[edge.call.value] & kMarkWaits) == 0) {
        continue;
      }
      last = edge.call;
      const NodeId start = result_.recording.start_of_event[edge.call.value];
      const NodeId end = result_.recording.end_of_event[edge.call.value];
      if (start != kNoNode && end != kNoNode) {
        Add(start, end,
            Class({.kind = LagKind::kCall, .call = trace_.host().name[edge.call.value]}), 0);
      }
    }
  }

  // Sorts dependencies by target, then by source.
  void Sort() {
    const size_t places = result_.node.size();
    result_.first_edge.assign(places + 1, 0);
    for (const Dependency& dependency : dependencies_) {
      ++result_.first_edge[dependency.to + 1];
    }
    result_.ts_ns.reserve(places);
    for (const size_t place : EachIndex(places)) {
      result_.first_edge[place + 1] += result_.first_edge[place];
      result_.ts_ns.push_back(Events().ts_ns[result_.node[place]]);
    }
    std::vector<uint32_t> next(result_.first_edge.begin(), result_.first_edge.end() - 1);
    result_.source.resize(dependencies_.size());
    result_.lag_class.resize(dependencies_.size());
    result_.own_ns.resize(dependencies_.size());
    for (const Dependency& dependency : dependencies_) {
      const uint32_t at = next[dependency.to]++;
      result_.source[at] = dependency.from;
      result_.lag_class[at] = dependency.lag_class;
      result_.own_ns[at] = dependency.own_ns;
    }
    dependencies_ = {};
  }

  void FindStretches() {
    std::vector<const Step*> steps;
    const std::vector<Step>& all = view_.steps().steps;
    for (const Step& step : all) {
      if (step.process == all.front().process &&
          result_.recording.start_of_event[step.annotation.value] != kNoNode) {
        steps.push_back(&step);
      }
    }
    if (steps.empty()) {
      result_.begin = result_.place_of[EventGraph::kBegin];
      result_.stretches.push_back({.begin = result_.begin, .done = EndsOfAll()});
      return;
    }
    result_.begin = PlaceOf(steps.front()->annotation, false);
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step* const step = steps[i];
      const int64_t next_ns =
          i + 1 < steps.size() ? steps[i + 1]->begin_ns : std::numeric_limits<int64_t>::max();
      result_.stretches.push_back({.begin = PlaceOf(step->annotation, false),
                                   .step = step->number,
                                   .done = {EndOnHost(*step, next_ns)}});
    }
    BeginAfterInheritedWork();
    AddWorkOfSteps(steps);
  }

  // The end of a step on the host. If the step outlives the event in which it began, its end node
  // is not before that event's end. If that is only in the next step, which begins at `next_ns`,
  // this is the thread's last node up to the recorded end of the step instead.
  Place EndOnHost(const Step& step, int64_t next_ns) const {
    const RecordingGraph& recording = result_.recording;
    const NodeId end = recording.end_of_event[step.annotation.value];
    if (Events().ts_ns[end] <= std::max(step.end_ns, next_ns)) {
      return result_.place_of[end];
    }
    const TrackId track = trace_.host().track[step.annotation.value];
    const NodeId begin = recording.start_of_event[step.annotation.value];
    for (size_t thread = 0; thread < recording.facts.threads.size(); ++thread) {
      if (recording.facts.threads[thread].track == track) {
        const auto first = Events().ts_ns.begin();
        const auto after =
            std::upper_bound(first + begin, first + recording.end_node[thread], step.end_ns);
        const auto last = static_cast<NodeId>(after - first - 1);
        return result_.place_of[std::max(begin, last)];
      }
    }
    return result_.place_of[begin];
  }

  // The step before the first recorded one is complete when its work, all of it inherited, is.
  void BeginAfterInheritedWork() {
    for (const DeviceId id : SharedInheritedWork(view_)->Rows()) {
      if (result_.IsWork(id) && result_.ts_ns[result_.EndOf(id)] > result_.ts_ns[result_.begin]) {
        result_.begin = result_.EndOf(id);
      }
    }
  }

  Place PlaceOf(HostId event, bool is_end) const {
    const RecordingGraph& recording = result_.recording;
    return result_.place_of[is_end ? recording.end_of_event[event.value]
                                   : recording.start_of_event[event.value]];
  }

  // Makes each step complete only when its work is.
  void AddWorkOfSteps(const std::vector<const Step*>& steps) {
    const Steps& all = view_.steps();
    std::vector<uint32_t> stretch_of(all.steps.size(), kNoStep);
    for (uint32_t i = 0; i < steps.size(); ++i) {
      stretch_of[static_cast<size_t>(steps[i] - all.steps.data())] = i;
    }
    std::vector<OpenEnds> ends(steps.size());
    for (const uint32_t row : EachRow(trace_.device().size())) {
      const uint32_t step = all.device_step.empty() ? kNoStep : all.device_step[row];
      if (step != kNoStep && stretch_of[step] != kNoStep && result_.IsWork({row})) {
        AddEnd({row}, ends[stretch_of[step]], result_.stretches[stretch_of[step]].done);
      }
    }
  }

  // The index at which the ends of a stream begin in a list of ends.
  struct OpenEnds {
    TrackId track;
    size_t first = 0;
  };

  // Adds the end of work, and removes earlier ends of its stream that this one implies: work that
  // ended before this work began. REQUIRES: rows in order.
  void AddEnd(DeviceId id, OpenEnds& open, std::vector<Place>& ends) const {
    const TrackId track = trace_.device().track[id.value];
    if (open.track != track) {
      open = {track, ends.size()};
    }
    const int64_t start_ns = result_.ts_ns[result_.StartOf(id)];
    while (ends.size() > open.first && result_.ts_ns[ends.back()] <= start_ns) {
      ends.pop_back();
    }
    ends.push_back(result_.EndOf(id));
  }

  // For recordings without steps: the ends of the main threads, and of all work of every stream.
  std::vector<Place> EndsOfAll() const {
    std::vector<Place> ends;
    const RecordingGraph& recording = result_.recording;
    for (size_t thread = 0; thread < recording.facts.threads.size(); ++thread) {
      if (recording.facts.threads[thread].is_main &&
          recording.first_node[thread] < recording.end_node[thread]) {
        ends.push_back(result_.place_of[recording.end_node[thread] - 1]);
      }
    }
    OpenEnds open;
    for (const uint32_t row : EachRow(trace_.device().size())) {
      if (result_.IsWork({row})) {
        AddEnd({row}, open, ends);
      }
    }
    return ends;
  }

  const RankView& view_;
  const Trace& trace_;
  ReplayGraph result_;
  std::vector<int64_t> host_ns_;    // per node: own time of the stretch of its thread before it
  std::vector<char> is_main_;       // per track
  std::vector<char> is_handed_to_;  // per node: whether another thread hands it over
  ColumnData<Dependency> dependencies_;
};

}  // namespace

uint32_t ReplayGraph::ThreadEdgeInto(Place place) const {
  for (uint32_t edge = first_edge[place]; edge < first_edge[place + 1]; ++edge) {
    if (lag_class[edge] == kOwnLag && node[source[edge]] + 1 == node[place]) {
      return edge;
    }
  }
  return kNoEdge;
}

ReplayGraph BuildReplayGraph(const RankView& view, std::string_view data_load) {
  return ReplayBuilder(view, data_load).Build();
}

void Replay(const ReplayGraph& graph, const ReplayLags& lags, std::vector<int64_t>& times) {
  times.resize(graph.places());
  auto added = lags.added.begin();
  for (Place place = 0; place < graph.places(); ++place) {
    CheckStopAt(place);
    const uint32_t end = graph.first_edge[place + 1];
    uint32_t edge = graph.first_edge[place];
    // A node without dependencies happens at its recorded time.
    int64_t latest = edge == end ? graph.ts_ns[place] - graph.ts_ns[0] : 0;
    for (; edge < end; ++edge) {
      latest = std::max(latest, times[graph.source[edge]] + lags.ns[edge]);
    }
    for (; added != lags.added.end() && added->place == place; ++added) {
      latest = std::max(latest, times[added->source] + added->ns);
    }
    times[place] = std::min(latest, kLongestLagNs);
  }
}

std::vector<int64_t> Replay(const ReplayGraph& graph, const ReplayLags& lags) {
  std::vector<int64_t> times;
  Replay(graph, lags, times);
  return times;
}

void SetMeasuredLags(const ReplayGraph& graph, ReplayLags& lags) {
  lags.ns.resize(graph.edges());
  lags.added.clear();
  for (Place place = 0; place < graph.places(); ++place) {
    for (uint32_t edge = graph.first_edge[place]; edge < graph.first_edge[place + 1]; ++edge) {
      lags.ns[edge] = graph.ts_ns[place] - graph.ts_ns[graph.source[edge]];
    }
  }
}

void SetLags(const ReplayGraph& graph, const std::vector<int64_t>& lag_of_class, ReplayLags& lags) {
  lags.ns.resize(graph.edges());
  lags.added.clear();
  for (size_t edge = 0; edge < lags.ns.size(); ++edge) {
    const LagClassId id = graph.lag_class[edge];
    lags.ns[edge] = id == kOwnLag ? graph.own_ns[edge] : lag_of_class[id];
  }
}

std::vector<int64_t> StretchTimes(const ReplayGraph& graph, const std::vector<int64_t>& times) {
  std::vector<int64_t> lengths;
  int64_t done_ns = times[graph.begin];
  for (const ReplayStretch& stretch : graph.stretches) {
    const int64_t begin_ns = std::max(done_ns, times[stretch.begin]);
    done_ns = begin_ns;
    for (const Place place : stretch.done) {
      done_ns = std::max(done_ns, times[place]);
    }
    lengths.push_back(done_ns - begin_ns);
  }
  return lengths;
}

int64_t TotalTime(const ReplayGraph& graph, const std::vector<int64_t>& times) {
  int64_t total_ns = 0;
  for (const int64_t length : StretchTimes(graph, times)) {
    total_ns += length;
  }
  return total_ns;
}

std::vector<int64_t> MeasuredTimes(const ReplayGraph& graph) {
  std::vector<int64_t> times;
  times.reserve(graph.places());
  for (const int64_t ts_ns : graph.ts_ns) {
    times.push_back(ts_ns - graph.ts_ns[0]);
  }
  return times;
}

Decision DecisionAt(const ReplayGraph& graph, const ReplayLags& lags,
                    const std::vector<int64_t>& times, Place place) {
  for (uint32_t edge = graph.first_edge[place]; edge < graph.first_edge[place + 1]; ++edge) {
    if (times[graph.source[edge]] + lags.ns[edge] == times[place]) {
      return {graph.source[edge], edge};
    }
  }
  auto added = std::lower_bound(
      lags.added.begin(), lags.added.end(), place,
      [](const AddedDependency& dependency, Place at) { return dependency.place < at; });
  for (; added != lags.added.end() && added->place == place; ++added) {
    if (times[added->source] + added->ns == times[place]) {
      return {added->source, kNoEdge};
    }
  }
  return {};
}

Place LastDone(const ReplayGraph& graph, const std::vector<int64_t>& times) {
  Place place = kNoPlace;
  for (const ReplayStretch& stretch : graph.stretches) {
    for (const Place done : stretch.done) {
      place = place == kNoPlace || times[done] > times[place] ? done : place;
    }
  }
  return place;
}

std::vector<Place> PathOfReplay(const ReplayGraph& graph, const ReplayLags& lags,
                                const std::vector<int64_t>& times) {
  std::vector<Place> path;
  WalkPathOfReplay(graph, lags, times,
                   [&](Place place, const Decision&) { path.push_back(place); });
  return path;
}

}  // namespace borescope::internal
