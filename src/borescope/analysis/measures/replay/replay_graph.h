// A recording as a graph that can be run again with other times: nodes in an order in which each
// depends only on earlier ones, and for every dependency the least time that has to pass. That time
// is either its own, as measured (device work, stretches of host threads), or one of a few lags,
// each shared by all dependencies of a class. It is never fitted to a single place, as then any
// graph would reproduce the recording. docs/how-it-works/whatif.md.
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

// Classes of dependencies that share a lag, for example from a launch of some name to its kernel,
// or from work to the next work of its stream.
enum class LagKind : uint8_t {
  kLaunch,  // begin of a launch call → start of its work on a free stream
  kStream,  // end of work → start of the stream's next work, launched long before
  kGraph,   // the same within a graph launch
  kEvent,   // end of work → start of work of another stream that waited for it
  kWait,    // end of the work that a call waits for → end of the call
  kQueue,   // start of the work that frees a place in a queue → end of the call that takes it
  kCall,    // begin → end of a call that could wait, but has nothing to wait for
};
std::string_view LagKindName(LagKind kind);

// A kind of lag, and what else a lag may depend on.
struct LagKey {
  LagKind kind = LagKind::kLaunch;
  DeviceKind work = DeviceKind::kKernel;  // kLaunch, kStream: of the work that starts
  DeviceKind from = DeviceKind::kKernel;  // kStream: of the work before
  bool inferred = false;                  // kEvent, kWait
  StringId call = {};                     // kLaunch, kWait, kCall: its name
};

using LagClassId = uint16_t;
inline constexpr LagClassId kOwnLag = 0xffff;  // the dependency has its own time

class LagClasses {
 public:
  // The class with this key, added if it is new. Classes beyond 65,000, in a hostile recording,
  // share the last number.
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
  // The last key of each kind, as the next one is mostly the same.
  std::array<Found, static_cast<size_t>(LagKind::kCall) + 1> last_;
};

// Index of a node in the order of the replay.
using Place = uint32_t;
inline constexpr Place kNoPlace = ~Place{0};

// Host time of one event: a part of the own time of the dependency into `place`.
struct HostPart {
  Place place;
  HostId event;  // the innermost; invalid: between all events
  int64_t ns;
  bool is_loading = false;  // inside an event of data loading
};

// About how long taking a batch takes if it is ready.
inline constexpr int64_t kTakeBatchNs = 100'000;

// A batch that another process prepared. It arrives at its recorded time, whatever this process
// does.
struct BatchArrival {
  HostId event;        // the event that took it
  uint32_t edge;       // the dependency on its arrival
  int64_t own_ns = 0;  // how long taking it takes
};

// A stretch of the replay: the whole recording, or one step. It begins at `begin`, or when the
// stretch before it is complete, whichever is later, and is complete when all of `done` have
// happened. Time between steps is in no stretch. The first one begins after inherited work is
// complete.
struct ReplayStretch {
  Place begin = 0;
  int64_t step = kMissing;  // its number; kMissing: the recording has no steps
  bool is_asked = true;     // whether answers include it
  std::vector<Place> done;
};

struct ReplayGraph {
  RecordingGraph recording;

  // Per place.
  ColumnData<NodeId> node;
  std::vector<int64_t> ts_ns;        // as recorded, on the clock of the host
  std::vector<uint32_t> first_edge;  // places + 1: the dependencies into it
  ColumnData<Place> place_of;        // per node
  // Per dependency, by place.
  std::vector<Place> source;
  std::vector<LagClassId> lag_class;
  std::vector<int64_t> own_ns;  // for kOwnLag: the time that has to pass

  LagClasses classes;
  ColumnData<HostPart> parts;  // by thread, then time
  std::vector<BatchArrival> arrivals;
  // The earliest begin of the first stretch: the begin of the first step, or the end of inherited
  // work if that is later.
  Place begin = 0;
  std::vector<ReplayStretch> stretches;
  std::vector<char>
      is_launched;        // per device row: whether it depends on a launch that was recorded
  uint64_t circular = 0;  // dependencies left out because they lead back in the order

  size_t places() const { return node.size(); }
  size_t edges() const { return source.size(); }
  // The places of device work. REQUIRES: the row is work.
  Place StartOf(DeviceId id) const { return place_of[recording.start_of_work[id.value]]; }
  Place EndOf(DeviceId id) const { return place_of[recording.start_of_work[id.value] + 1]; }
  // The dependency on the previous node of the same thread, whose time is what the thread does in
  // between; kNoEdge if there is none.
  uint32_t ThreadEdgeInto(Place place) const;
  bool IsWork(DeviceId id) const { return recording.start_of_work[id.value] != kNoNode; }
};

// O(rows log rows). `data_load` as in BuildGraph.
ReplayGraph BuildReplayGraph(const RankView& view, std::string_view data_load);

// Runs a recording again: one pass over its nodes in order, each as early as its dependencies
// allow.

// A dependency that the recording does not have.
struct AddedDependency {
  Place place;
  Place source;  // before `place`
  int64_t ns;
};

// The lags and additional dependencies of one run.
struct ReplayLags {
  std::vector<int64_t> ns;             // per dependency of the graph
  std::vector<AddedDependency> added;  // by place
};

// The limit of times and lags, so that sums stay within 64 bits even for hostile recordings.
inline constexpr int64_t kLongestLagNs = int64_t{1} << 60;
// The lag of a dependency that is switched off.
inline constexpr int64_t kNoDependency = -(int64_t{1} << 60);

// Per place the time since the begin of the recording. Pure; O(places + dependencies).
std::vector<int64_t> Replay(const ReplayGraph& graph, const ReplayLags& lags);
// The same into `times`, as allocating new memory costs as much as the replay.
void Replay(const ReplayGraph& graph, const ReplayLags& lags, std::vector<int64_t>& times);

// Sets the measured length of every dependency, which reproduces the recording to the nanosecond.
void SetMeasuredLags(const ReplayGraph& graph, ReplayLags& lags);
// Sets own times and the lags of classes.
void SetLags(const ReplayGraph& graph, const std::vector<int64_t>& lag_of_class, ReplayLags& lags);

// How long each stretch takes in a run. `times`: per place.
std::vector<int64_t> StretchTimes(const ReplayGraph& graph, const std::vector<int64_t>& times);
int64_t TotalTime(const ReplayGraph& graph, const std::vector<int64_t>& times);
// Per place the recorded time since the begin of the recording.
std::vector<int64_t> MeasuredTimes(const ReplayGraph& graph);

// What decided when a place was reached.
struct Decision {
  Place source = kNoPlace;  // kNoPlace: it depends on nothing
  uint32_t edge = kNoEdge;  // kNoEdge: an added dependency
};
Decision DecisionAt(const ReplayGraph& graph, const ReplayLags& lags,
                    const std::vector<int64_t>& times, Place place);
// The place at which the last stretch is complete; kNoPlace if there is none.
Place LastDone(const ReplayGraph& graph, const std::vector<int64_t>& times);
// Calls visit(place, decision) for the places on the longest path to the completion of the last
// stretch, from the last one back to the begin of the first stretch.
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
// The places on that path.
std::vector<Place> PathOfReplay(const ReplayGraph& graph, const ReplayLags& lags,
                                const std::vector<int64_t>& times);

}  // namespace borescope::internal
