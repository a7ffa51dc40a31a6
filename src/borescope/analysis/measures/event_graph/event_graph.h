// The event graph of one recording: moments, and what has to pass between them. Arrays and
// compressed sparse rows; no node or edge is an object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/base/column_data.h"
#include "borescope/base/id.h"
#include "borescope/base/stop.h"
#include "borescope/index/clocks/device_clocks.h"
#include "borescope/index/syncs/sync_edges.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

using NodeId = uint32_t;
using EdgeId = uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};
inline constexpr EdgeId kNoEdge = ~EdgeId{0};

enum class NodeSide : uint8_t { kNone, kHost, kDevice };

// In the order in which edges of equal worth are preferred on the path.
enum class EdgeKind : uint8_t {
  kWork,          // device work, from its start to its end
  kThread,        // a stretch of a host thread
  kSync,          // device work → the end of the call, or the start of the work, that waited for it
  kInferredSync,  // the same where it was not recorded
  kStream,        // device work → the next on its stream, or of its graph
  kLaunch,        // launch call → device work
  kInferredWork,  // device work → work of the device that began late, and after which is not
                  // recorded
  kHandover,      // from thread to thread
  kEnds,   // the begin of the recording → what depends on nothing; what nothing depends on → end
  kQueue,  // start of device work → end of the launch call that takes its place in the queue; only
           // where recordings are replayed
};
// Whether the dependency was not recorded, but follows from times and names.
inline bool IsInferred(EdgeKind kind) {
  return kind == EdgeKind::kInferredSync || kind == EdgeKind::kInferredWork;
}
// Whether it is between a host and a device, whose clocks drift: then it may lead back by
// kMostDriftNs, and weighs what it leads back.
inline bool MayLeadBack(EdgeKind kind) {
  return kind == EdgeKind::kSync || kind == EdgeKind::kInferredSync || kind == EdgeKind::kLaunch ||
         kind == EdgeKind::kQueue;
}

struct EventGraph {
  // The begin and the end of the recording.
  static constexpr NodeId kBegin = 0;
  static constexpr NodeId kEnd = 1;

  // Nodes.
  ColumnData<int64_t> ts_ns;
  ColumnData<uint32_t> event;  // row of HostEvents or DeviceEvents, by side
  ColumnData<NodeSide> side;
  // Edges, by source.
  ColumnData<EdgeId> first_edge;  // nodes + 1
  ColumnData<NodeId> target;
  ColumnData<int64_t> weight_ns;  // what is explained of the time between its ends; < 0: leads back
  ColumnData<EdgeKind> kind;

  size_t nodes() const { return ts_ns.size(); }
  size_t edges() const { return target.size(); }
};

// Collects nodes and edges in any order.
class GraphBuilder {
 public:
  GraphBuilder(int64_t begin_ns, int64_t end_ns);

  // Makes room for about as many, beside the ends: what grows by itself takes twice the memory.
  void Reserve(size_t nodes, size_t edges);
  NodeId AddNode(int64_t ts_ns, NodeSide side, uint32_t event);
  int64_t TimeOf(NodeId node) const { return graph_.ts_ns[node]; }
  // An edge from or to kNoNode, or that leads back in time further than it may, is left out.
  // `weight_ns` is at most the time between its ends; less is used where it leads back.
  void AddEdge(NodeId from, NodeId to, int64_t weight_ns, EdgeKind kind);
  // Ties loose nodes to the begin and the end, and sorts the edges.
  EventGraph Finish() &&;

 private:
  void TieLooseNodes();
  void SortBySource();

  EventGraph graph_;
  // Of the edges in the order in which they were added.
  ColumnData<NodeId> from_;
  ColumnData<NodeId> to_;
  ColumnData<int64_t> weight_ns_;
  ColumnData<EdgeKind> kind_;
};

// Nodes in an order in which every edge leads forward. Nearly all edges lead forward in time
// already; among nodes of one moment, and where clocks drift, a hostile recording can still tie a
// circle; of what is left then the earliest node goes first, and edges back to it are no part of
// any path.
struct TopologicalOrder {
  ColumnData<NodeId> nodes;
  ColumnData<uint32_t> places;  // per node: its index in `nodes`
};
// O(nodes + edges).
TopologicalOrder OrderNodes(const EventGraph& graph);

struct LongestPaths {
  ColumnData<int64_t> ns;   // per node: the longest way to it
  ColumnData<EdgeId> by;    // per node: its last edge; kNoEdge where it has none
  ColumnData<NodeId> from;  // the source of that edge
};

// One pass over `order`. Of ways of equal length the one whose last edge is of the smaller kind,
// then the one from the smaller node.
LongestPaths FindLongestPaths(const EventGraph& graph, const TopologicalOrder& order);
// Only how long the longest way to the end is, with other weights.
int64_t LongestLength(const EventGraph& graph, const TopologicalOrder& order,
                      std::span<const int64_t> weight_ns);

// Per node: how late it may come, on the clock of LongestPaths::ns, without making the end later.
ColumnData<int64_t> LatestTimes(const EventGraph& graph, const TopologicalOrder& order,
                                int64_t end_ns);

// Walks along one host thread: what it is doing at every moment, and where its events begin and
// end.

// What an event of a thread matters for, per host row; flags.
enum HostMark : uint8_t {
  kMarkStart = 1,             // its start is a node
  kMarkEnd = 2,               // its end is a node
  kMarkWaits = 4,             // a call that waits for the device: its time is the device's
  kMarkReleases = 8,          // from its end to the next node the thread waits for another
  kMarkReleasesAtStart = 16,  // the same from its start
};

// A stretch of a thread in which one event is innermost.
struct ThreadPiece {
  HostId innermost;  // invalid: between all events
  int64_t begin_ns = 0;
  int64_t end_ns = 0;       // > begin_ns
  bool is_running = false;  // its time is the thread's own work
  bool is_idle = false;     // it has no work that was recorded, and waits for nothing that was
  bool is_loading = false;  // inside an event of data loading
};

struct ThreadFacts {
  TrackId track;
  bool is_main = false;  // what it does is work also between its operators and calls
};

// What the sweep has to know of all threads.
struct HostFacts {
  std::vector<uint8_t> marks;        // per host row; HostMark
  std::vector<char> is_loading;      // per StringId
  std::vector<ThreadFacts> threads;  // those with events
};

// Calls on_piece(ThreadPiece) for the whole of the thread from its first start to its last end, and
// in between on_boundary(HostId, is_end, at_ns) for every start and end, by time; an event that
// outlives the one it began in ends there no earlier than its own end. O(rows).
template <class OnPiece, class OnBoundary>
class HostSweep {
 public:
  HostSweep(const Trace& trace, const HostFacts& facts, ThreadFacts thread, OnPiece on_piece,
            OnBoundary on_boundary)
      : trace_(trace),
        facts_(facts),
        thread_(thread),
        on_piece_(on_piece),
        on_boundary_(on_boundary) {}

  void Run() {
    const Tracks& tracks = trace_.tracks();
    const HostEvents& host = trace_.host();
    const uint32_t first = tracks.first_row[thread_.track.value];
    const uint32_t end = tracks.end_row[thread_.track.value];
    now_ns_ = first == end ? 0 : host.ts_ns[first];
    for (uint32_t row = first; row < end; ++row) {
      CheckStopAt(row);
      CloseUntil(host.ts_ns[row]);
      MoveTo(host.ts_ns[row]);
      Open(HostId{row});
    }
    while (!open_.empty()) {
      CloseTop();
    }
  }

 private:
  struct Frame {
    HostId id;
    int64_t end_ns;
    bool is_busy;  // in an operator or a call
    bool is_loading;
    bool waits;
  };

  void CloseUntil(int64_t ns) {
    while (!open_.empty() && open_.back().end_ns <= ns) {
      CloseTop();
    }
  }

  void CloseTop() {
    const HostId id = open_.back().id;
    MoveTo(open_.back().end_ns);
    open_.pop_back();
    Pass(id, true);
  }

  void Open(HostId id) {
    const HostEvents& host = trace_.host();
    const HostKind kind = host.kind[id.value];
    Frame frame = open_.empty() ? Frame{id, 0, false, false, false} : open_.back();
    frame.id = id;
    frame.end_ns = host.end_ns(id);
    frame.is_busy |= kind == HostKind::kOp || kind == HostKind::kRuntime;
    frame.is_loading |= facts_.is_loading[host.name[id.value].value] != 0;
    frame.waits |= (facts_.marks[id.value] & kMarkWaits) != 0;
    Pass(id, false);
    open_.push_back(frame);
  }

  void Pass(HostId id, bool is_end) {
    const uint8_t marks = facts_.marks[id.value];
    if ((marks & (is_end ? kMarkEnd : kMarkStart)) != 0) {
      is_released_ = (marks & (is_end ? kMarkReleases : kMarkReleasesAtStart)) != 0;
    }
    on_boundary_(id, is_end, now_ns_);
  }

  void MoveTo(int64_t ns) {
    if (ns <= now_ns_) {
      return;
    }
    ThreadPiece piece{
        .innermost = {}, .begin_ns = now_ns_, .end_ns = ns, .is_running = thread_.is_main};
    bool waits = is_released_;
    if (!open_.empty()) {
      const Frame& top = open_.back();
      piece.innermost = top.id;
      piece.is_running = thread_.is_main || top.is_busy;
      piece.is_loading = top.is_loading;
      waits = waits || top.waits;
    }
    piece.is_idle = !piece.is_running && !waits;
    piece.is_running = piece.is_running && !waits;
    on_piece_(piece);
    now_ns_ = ns;
  }

  const Trace& trace_;
  const HostFacts& facts_;
  ThreadFacts thread_;
  OnPiece on_piece_;
  OnBoundary on_boundary_;
  std::vector<Frame> open_;
  int64_t now_ns_ = 0;
  bool is_released_ = false;
};

template <class OnPiece, class OnBoundary>
void SweepThread(const Trace& trace, const HostFacts& facts, ThreadFacts thread, OnPiece on_piece,
                 OnBoundary on_boundary) {
  HostSweep<OnPiece, OnBoundary>(trace, facts, thread, on_piece, on_boundary).Run();
}

// Which host threads there are, which of them is the main one of its process, and which belong to
// the autograd engine.

// The threads with events, in the order of their tracks. Main is, per process, the thread with the
// training steps; without steps the one whose events fill the most time, of those with operators or
// calls, threads of the autograd engine aside. A process of Python frames alone has none, unless
// nothing else is recorded.
std::vector<ThreadFacts> FindThreads(const RankView& view);

// Per StringId: whether it is the name of an operator of the autograd engine.
std::vector<char> FindEngineNames(const Trace& trace);
// Per track: whether it is a thread of the autograd engine: it runs such operators, or backward
// operators of forward ones on another thread, but neither training steps nor forward operators of
// another thread's.
std::vector<char> FindEngines(const RankView& view);

// Launch calls that wait because the queue of their stream is full: a device takes a limited number
// of launches ahead of its work (1022 to 1024 for CUDA), and a call beyond them returns when the
// work that is next in line has started.

// A launch call that needs a place in the queue of its stream.
struct QueuedCall {
  HostId call;
  DeviceId frees;         // the work whose start frees the place
  int64_t usual_ns = 0;   // how long calls of this name take where there is room
  bool was_full = false;  // whether it waited for the place in the recording
};

// By stream, then launch. Streams whose queue was never longer than kFullQueue have none: how many
// launches they take is not known from the recording. O(rows log rows).
std::vector<QueuedCall> FindQueuedCalls(const RankView& view, const DeviceClocks& clocks);

// A shorter queue says nothing about the limit.
inline constexpr size_t kFullQueue = 500;

// Makes the event graph of one recording; docs/how-it-works/critical-path.md defines it.

enum class GraphUse : uint8_t {
  kPath,    // to look for what decided how long the recording took
  kReplay,  // to run it again with other times: also the starts and ends of steps, those of waits
            // for data that other processes load (FindArrivals), and the calls that need a place in
            // a queue that was full (kQueue)
};

struct RecordingGraph {
  EventGraph graph;
  HostFacts facts;
  // Per thread of facts.threads: its nodes, numbered by time without a break.
  ColumnData<NodeId> first_node;
  ColumnData<NodeId> end_node;
  ColumnData<NodeId> start_of_work;  // per device row: its start, its end is the next; kNoNode
  DeviceClocks clocks;               // nodes of devices are at times on the clock of the host
  SyncEdges syncs;
  ColumnData<int64_t> sync_weight_ns;  // per edge of syncs
  // Per track: whether it begins with work from before the recording (inherited_work.h).
  std::vector<char> inherited;
  // kReplay only. Per host row, where it is a node; else kNoNode.
  ColumnData<NodeId> start_of_event;
  ColumnData<NodeId> end_of_event;
  std::vector<QueuedCall> queued;
};

// `data_load`: beside the usual names, what the name of an event of data loading contains; may be
// empty. O(rows log rows).
RecordingGraph BuildGraph(const RankView& view, std::string_view data_load,
                          GraphUse use = GraphUse::kPath);

// The edge from a node of a thread to its next one; kNoEdge: none.
EdgeId ThreadEdge(const EventGraph& graph, NodeId node);

// What device work waits for before it starts.

// What else is known of the recording.
struct DeviceFacts {
  const DeviceClocks& clocks;
  const SyncEdges& syncs;
  const ColumnData<NodeId>& launch_nodes;  // per host row
};

// Adds two nodes per device work, at times on the clock of the host, within the recording; an edge
// from its start to its end; and edges to its start from
//   the work that ended last before it on its stream,
//   the work that ended last before it of those its launch started on several streams (a graph),
//   the work its stream waited for (kStreamWait), and
//   the start of its launch call.
// What came last of these is what it waited for, and carries the time until the start; the others
// weigh nothing. Where waits between streams were not recorded, work of its device that ended more
// than kUsualDelayNs after all of these is what it waited for: the last of it carries the time, by
// an inferred edge. Gives per device row its start node, the end being the next; `sync_weight_ns`
// is sized, and filled where streams wait. O(work log work).
ColumnData<NodeId> AddDeviceWork(const RankView& view, const DeviceFacts& facts,
                                 GraphBuilder& builder, ColumnData<int64_t>& sync_weight_ns);

}  // namespace borescope::internal
