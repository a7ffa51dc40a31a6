// A recording as a graph that can be run again with other times: nodes in an order in which each
// depends on earlier ones only, and for every dependency the least time that has to pass. That time
// is either its own, as measured (device work, stretches of host threads), or one of a few lags
// that all dependencies of a class share (lag_classes.h), never what was left over at that very
// place: else any graph would give the recording back. docs/how-it-works/whatif.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/event_graph/build_graph.h"
#include "borescope/analysis/measures/replay/lag_classes.h"
#include "borescope/base/column_data.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
