// The event graph of one recording. A node is a timestamp at which something begins or ends; an
// edge says that its target cannot come before its source, and how long what is between them takes.
// Stored as arrays and compressed sparse rows. docs/how-it-works/critical-path.md defines which
// nodes and edges a recording has.
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
#include "borescope/base/each_row.h"
#include "borescope/base/id.h"
#include "borescope/index/clocks/device_clocks.h"
#include "borescope/index/syncs/sync_edges.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

using NodeId = uint32_t;
using EdgeId = uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};
inline constexpr EdgeId kNoEdge = ~EdgeId{0};

enum class NodeSide : uint8_t { kNone, kHost, kDevice };

// Of edges that make a path equally long the one whose kind comes first here is preferred.
enum class EdgeKind : uint8_t {
  kWork,          // device work, from its start to its end
  kThread,        // a stretch of a host thread
  kSync,          // device work → the end of the call, or the start of the work, that waited for it
  kInferredSync,  // the same where it was not recorded
  kStream,        // device work → the next on its stream, or of its graph
  kLaunch,        // launch call → device work
  kInferredWork,  // device work → later work of the device, which waited for something that was not
                  // recorded
  kHandover,      // from thread to thread
  kEnds,   // begin of the recording → nodes without a source; nodes without a target → its end
  kQueue,  // start of device work → end of the launch call that takes its place in the queue; only
           // where recordings are replayed
};
// Whether the dependency was not recorded, but inferred from times and names.
inline bool IsInferred(EdgeKind kind) {
  return kind == EdgeKind::kInferredSync || kind == EdgeKind::kInferredWork;
}
// Whether the edge is between a host and a device. As their clocks drift, such an edge may lead
// back in time by up to kMostDriftNs, and then has that negative weight.
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
  ColumnData<int64_t> weight_ns;  // how much of the time between its ends the edge explains; < 0:
                                  // leads back in time
  ColumnData<EdgeKind> kind;

  size_t nodes() const { return ts_ns.size(); }
  size_t edges() const { return target.size(); }
};

// Collects nodes and edges in any order.
class GraphBuilder {
 public:
  GraphBuilder(int64_t begin_ns, int64_t end_ns);

  // Reserves memory for about this many, not counting begin, end and their edges: vectors that grow
  // by themselves take twice the memory.
  void Reserve(size_t nodes, size_t edges);
  NodeId AddNode(int64_t ts_ns, NodeSide side, uint32_t event);
  int64_t TimeOf(NodeId node) const { return graph_.ts_ns[node]; }
  // Leaves out edges from or to kNoNode, and those that lead back in time further than their kind
  // may. The weight of an edge is at most the time between its ends.
  void AddEdge(NodeId from, NodeId to, int64_t weight_ns, EdgeKind kind);
  // Connects nodes without source or target with the begin and the end, and sorts the edges.
  EventGraph Finish() &&;

 private:
  void TieLooseNodes();
  void SortBySource();

  EventGraph graph_;
  // Edges in the order in which they were added.
  ColumnData<NodeId> from_;
  ColumnData<NodeId> to_;
  ColumnData<int64_t> weight_ns_;
  ColumnData<EdgeKind> kind_;
};

// Nodes in an order in which every edge leads forward. Nearly all edges lead forward in time
// already. Between nodes of one timestamp, and where clocks drift, a hostile recording can still
// make a cycle; of the nodes that are left then the earliest is placed first, and edges back to it
// are not part of any path.
struct TopologicalOrder {
  ColumnData<NodeId> nodes;
  ColumnData<uint32_t> places;  // per node: its index in `nodes`
};
// O(nodes + edges).
TopologicalOrder OrderNodes(const EventGraph& graph);

struct LongestPaths {
  ColumnData<int64_t> ns;   // per node: the length of the longest path to it
  ColumnData<EdgeId> by;    // per node: its last edge; kNoEdge where it has none
  ColumnData<NodeId> from;  // the source of that edge
};

// One pass over `order`. Among paths of equal length the last edge with the smaller kind is chosen,
// then the one from the smaller node.
LongestPaths FindLongestPaths(const EventGraph& graph, const TopologicalOrder& order);
// The length of the longest path to the end with other weights.
int64_t LongestLength(const EventGraph& graph, const TopologicalOrder& order,
                      std::span<const int64_t> weight_ns);

// Per node: the latest time, on the clock of LongestPaths::ns, that does not delay the end.
ColumnData<int64_t> LatestTimes(const EventGraph& graph, const TopologicalOrder& order,
                                int64_t end_ns);

// Host threads: what the graph has to know about them, and a walk along one of them.

// Per host row, flags: which of its ends are nodes, and whether its thread waits.
enum HostMark : uint8_t {
  kMarkStart = 1,             // its start is a node
  kMarkEnd = 2,               // its end is a node
  kMarkWaits = 4,             // a call that waits for the device: its time is the device's
  kMarkReleases = 8,          // from its end to the next node the thread waits for another thread
  kMarkReleasesAtStart = 16,  // the same from its start
};

// A stretch of a thread in which one event is innermost.
struct ThreadPiece {
  HostId innermost;  // invalid: between all events
  int64_t begin_ns = 0;
  int64_t end_ns = 0;       // > begin_ns
  bool is_running = false;  // the thread works itself
  bool is_idle = false;     // no work of the thread was recorded, and nothing that it waits for
  bool is_loading = false;  // inside an event of data loading
};

struct ThreadFacts {
  TrackId track;
  bool is_main = false;  // it also works between its operators and calls
};

// Facts about all host threads.
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
    for (const uint32_t row : EachRow(first, end)) {
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

// Which host threads there are, which of them is the main thread of its process, and which belong
// to the autograd engine.

// The threads with events, in the order of their tracks. The main thread of a process is the one
// with the training steps. Without steps it is, among threads with operators or calls that are not
// of the autograd engine, the one whose events fill the most time. A process with Python frames
// alone has none, unless nothing else is recorded.
std::vector<ThreadFacts> FindThreads(const RankView& view);

// Per StringId: whether it is the name of an operator of the autograd engine.
std::vector<char> FindEngineNames(const Trace& trace);
// Per track: whether it is a thread of the autograd engine. Such a thread runs operators of the
// engine, or backward operators whose forward operators are on another thread, but neither training
// steps nor forward operators whose backward is on another thread.
std::vector<char> FindEngines(const RankView& view);

// Launch calls that wait because the queue of their stream is full: a stream takes a limited number
// of launches ahead of the work that runs (1022 to 1024 for CUDA), and a call beyond them returns
// when the next work in the queue has started.

// A launch call that needs a place in the queue of its stream.
struct QueuedCall {
  HostId call;
  DeviceId frees;         // the work whose start frees the place
  int64_t usual_ns = 0;   // how long calls of this name take when the queue has room
  bool was_full = false;  // whether the call waited for a place when it was recorded
};

// By stream, then launch. None for streams whose queue was never longer than kFullQueue, as the
// recording does not show how many launches they take. O(rows log rows).
std::vector<QueuedCall> FindQueuedCalls(const RankView& view, const DeviceClocks& clocks);

// Longer queues are taken to show the limit of their stream.
inline constexpr size_t kFullQueue = 500;

// The graph of a recording, and what was found on the way to it.
enum class GraphUse : uint8_t {
  kPath,    // to find what decided how long the recording took
  kReplay,  // to replay it with other times. Adds nodes for starts and ends of steps and of waits
            // for data that other processes load (FindArrivals), and edges for calls that need a
            // place in a queue that was full (kQueue)
};

struct RecordingGraph {
  EventGraph graph;
  HostFacts facts;
  // Per thread of facts.threads: its nodes, which have consecutive numbers in order of time.
  ColumnData<NodeId> first_node;
  ColumnData<NodeId> end_node;
  ColumnData<NodeId> start_of_work;  // per device row: the node of its start, whose successor is
                                     // its end; or kNoNode
  DeviceClocks clocks;               // nodes of devices are at times on the clock of the host
  SyncEdges syncs;
  ColumnData<int64_t> sync_weight_ns;  // per edge of syncs
  // Per track: whether it begins with work that was launched before the recording
  // (inherited_work.h).
  std::vector<char> inherited;
  // For kReplay only. Per host row: the nodes of its start and end, or kNoNode.
  ColumnData<NodeId> start_of_event;
  ColumnData<NodeId> end_of_event;
  std::vector<QueuedCall> queued;
};

// `data_load`: events whose name contains it are data loading too, besides those with the usual
// names; may be empty. O(rows log rows).
RecordingGraph BuildGraph(const RankView& view, std::string_view data_load,
                          GraphUse use = GraphUse::kPath);

// The edge from a node of a thread to the thread's next node, or kNoEdge.
EdgeId ThreadEdge(const EventGraph& graph, NodeId node);

// What device work waits for before it starts.

// What AddDeviceWork needs to know besides the trace.
struct DeviceFacts {
  const DeviceClocks& clocks;
  const SyncEdges& syncs;
  const ColumnData<NodeId>& launch_nodes;  // per host row
};

// Adds two nodes for each device work, at times on the clock of the host and within the recording,
// an edge from its start to its end, and edges to its start from what it may have waited for:
//   the work that ended last before it on its stream,
//   among the work that its launch started on several streams (a graph), what ended last before it,
//   the work its stream waited for (kStreamWait), and
//   the start of its launch call.
// The latest of these is what it waited for: its edge has the time until the start as weight, and
// the others have none. Where waits between streams were not recorded and other work of the device
// ended more than kUsualDelayNs after all of these, the last of that work is taken to be what it
// waited for, by an inferred edge. Returns per device row its start node, whose successor is the
// end node. Resizes `sync_weight_ns`, and fills it where streams wait. O(work log work).
ColumnData<NodeId> AddDeviceWork(const RankView& view, const DeviceFacts& facts,
                                 GraphBuilder& builder, ColumnData<int64_t>& sync_weight_ns);

}  // namespace borescope::internal
