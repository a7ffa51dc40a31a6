// A recording as a graph that can be run again with other times: nodes in an order in which each
// depends on earlier ones only, and for every dependency the least time that has to pass. That time
// is either its own, as measured (device work, stretches of host threads), or one of a few lags
// that all dependencies of a class share (lag_classes.h), never what was left over at that very
// place: else any graph would give the recording back. docs/how-it-works/whatif.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/base/column_data.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/id.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Classes of dependencies that share one lag: from a launch of this name to its kernel, from work
// to the next of its stream, ...

enum class LagKind : uint8_t {
  kLaunch,  // begin of a launch call → start of its work, the stream being free
  kStream,  // end of work → start of the next of its stream, long launched
  kGraph,   // the same within one launch of a graph
  kEvent,   // end of work → start of work of another stream that waited for it
  kWait,    // end of the work that a call waits for → end of the call
  kQueue,   // start of the work that frees a place in a queue → end of the call that takes it
  kCall,    // a call that could wait and has nothing to wait for: begin → end
};
std::string_view LagKindName(LagKind kind);

// What a lag may depend on beside its kind.
struct LagKey {
  LagKind kind = LagKind::kLaunch;
  DeviceKind work = DeviceKind::kKernel;  // kLaunch, kStream: of the work that starts
  DeviceKind from = DeviceKind::kKernel;  // kStream: of the work before
  bool inferred = false;                  // kEvent, kWait
  StringId call = {};                     // kLaunch, kWait, kCall: its name
};

using LagClassId = uint16_t;
inline constexpr LagClassId kOwnLag = 0xffff;  // not of a class

class LagClasses {
 public:
  // The class of such dependencies, made where there is none. Those beyond 65,000, of a hostile
  // recording, share the last one.
  LagClassId IdOf(const LagKey& key);
  size_t size() const { return keys_.size(); }
  const LagKey& Key(LagClassId id) const { return keys_[id]; }
  // "cudaLaunchKernel → kernel", "kernel → kernel".
  std::string Describe(const Trace& trace, LagClassId id) const;

 private:
  struct Found {
    uint64_t packed = ~uint64_t{0};
    LagClassId id = 0;
  };

  std::vector<LagKey> keys_;
  HashMap<uint64_t, LagClassId> ids_;
  // The last of each kind, which is mostly asked for again.
  std::array<Found, static_cast<size_t>(LagKind::kCall) + 1> last_;
};

// Index of a moment in the order of the replay.
using Place = uint32_t;
inline constexpr Place kNoPlace = ~Place{0};

// Host time that belongs to one event: part of the own time of the dependency into `place`.
struct HostPart {
  Place place;
  HostId event;  // the innermost; invalid: between all events
  int64_t ns;
  bool is_loading = false;  // of data
};

// Taking a batch that is there takes about so long.
inline constexpr int64_t kTakeBatchNs = 100'000;

// A batch that a process of its own prepared. It arrives when it did, whatever this process does.
struct BatchArrival {
  HostId event;        // that took it
  uint32_t edge;       // the dependency on its arrival
  int64_t own_ns = 0;  // what taking it takes
};

// A stretch of the replay: the recording, or one step. It begins at `begin`, or when the one before
// is complete, whichever is later, and is complete when all of `done` have happened. Time between
// steps is in none. Before the first one inherited work is complete.
struct ReplayStretch {
  Place begin = 0;
  int64_t step = kMissing;  // its number; kMissing: no steps were recorded
  bool is_asked = true;     // whether answers are about it
  std::vector<Place> done;
};

struct ReplayGraph {
  RecordingGraph recording;

  // Per place.
  ColumnData<NodeId> node;
  std::vector<int64_t> ts_ns;        // as measured, on the clock of the host
  std::vector<uint32_t> first_edge;  // places + 1: the dependencies into it
  ColumnData<Place> place_of;        // per node
  // Per dependency, by place.
  std::vector<Place> source;
  std::vector<LagClassId> lag_class;
  std::vector<int64_t> own_ns;  // kOwnLag: what has to pass

  LagClasses classes;
  ColumnData<HostPart> parts;  // by thread, then time
  std::vector<BatchArrival> arrivals;
  // Where the first stretch begins at the earliest: the begin of the first step, or the end of
  // inherited work, if that is later.
  Place begin = 0;
  std::vector<ReplayStretch> stretches;
  std::vector<char>
      is_launched;        // per device row: whether it depends on a launch that was recorded
  uint64_t circular = 0;  // dependencies left out, as they lead back in the order

  size_t places() const { return node.size(); }
  size_t edges() const { return source.size(); }
  // Of the work of a device row; REQUIRES that it is work.
  Place StartOf(DeviceId id) const { return place_of[recording.start_of_work[id.value]]; }
  Place EndOf(DeviceId id) const { return place_of[recording.start_of_work[id.value] + 1]; }
  // The dependency on the moment before on the same thread, which takes what the thread does in
  // between; kNoEdge without one.
  uint32_t ThreadEdgeInto(Place place) const;
  bool IsWork(DeviceId id) const { return recording.start_of_work[id.value] != kNoNode; }
};

// O(rows log rows). `data_load` as BuildGraph.
ReplayGraph BuildReplayGraph(const RankView& view, std::string_view data_load);

// Runs a recording again: one pass over its nodes in their order, each as early as what it
// depends on allows.

// A dependency that the recording does not have.
struct AddedDependency {
  Place place;
  Place source;  // before `place`
  int64_t ns;
};

// What has to pass, and what is depended on, in one run.
struct ReplayLags {
  std::vector<int64_t> ns;             // per dependency of the graph
  std::vector<AddedDependency> added;  // by place
};

// Times and lags are at most this, whatever a hostile recording says: sums stay within 64 bits.
inline constexpr int64_t kLongestLagNs = int64_t{1} << 60;
// The lag of a dependency that does not hold.
inline constexpr int64_t kNoDependency = -(int64_t{1} << 60);

// Per place the time since the begin of the recording. Pure; O(places + dependencies).
std::vector<int64_t> Replay(const ReplayGraph& graph, const ReplayLags& lags);
// The same into `times`: new memory for them costs as much as the replay.
void Replay(const ReplayGraph& graph, const ReplayLags& lags, std::vector<int64_t>& times);

// The dependencies with their measured lengths, which give the recording back to the nanosecond.
void SetMeasuredLags(const ReplayGraph& graph, ReplayLags& lags);
// Own times, and a lag for each class.
void SetLags(const ReplayGraph& graph, const std::vector<int64_t>& lag_of_class, ReplayLags& lags);

// How long each stretch takes in a run, and all together. `times` per place.
std::vector<int64_t> StretchTimes(const ReplayGraph& graph, const std::vector<int64_t>& times);
int64_t TotalTime(const ReplayGraph& graph, const std::vector<int64_t>& times);
// As recorded, per place since the begin of the recording.
std::vector<int64_t> MeasuredTimes(const ReplayGraph& graph);

// What decided when a place was reached.
struct Decision {
  Place source = kNoPlace;  // kNoPlace: it depends on nothing
  uint32_t edge = kNoEdge;  // kNoEdge: an added dependency
};
Decision DecisionAt(const ReplayGraph& graph, const ReplayLags& lags,
                    const std::vector<int64_t>& times, Place place);
// The moment at which the last stretch is complete; kNoPlace where nothing is.
Place LastDone(const ReplayGraph& graph, const std::vector<int64_t>& times);
// Calls visit(place, decision) for the places on the longest way to the completion of the last
// stretch, the last one first, back to the begin of the first.
template <class Visit>
void WalkPathOfReplay(const ReplayGraph& graph, const ReplayLags& lags,
                      const std::vector<int64_t>& times, const Visit& visit) {
  const int64_t begin_ns = times[graph.begin];
  Place place = LastDone(graph, times);
  while (place != kNoPlace && times[place] >= begin_ns) {
    const Decision decision = DecisionAt(graph, lags, times, place);
    visit(place, decision);
    place = decision.source;
  }
}
// The places alone.
std::vector<Place> PathOfReplay(const ReplayGraph& graph, const ReplayLags& lags,
                                const std::vector<int64_t>& times);

}  // namespace borescope::internal
