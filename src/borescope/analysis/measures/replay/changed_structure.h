// The changes of scenarios applied to a replay: changed times of events, and changed dependencies
// (waits that end at once, collectives that nothing waits for, launches that become graphs).
// Internal to replay/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/replay_graph.h"
#include "borescope/analysis/measures/replay/replay_model.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

// Changed times: how many times as long events take, and which are removed.

// Factors of one scenario. An empty column means that nothing of its kind changes.
struct ChangedTimes {
  std::vector<double> device;   // per device row
  std::vector<double> at_roof;  // per device row: an upper limit of the factor
  std::vector<char> removed;    // per device row
  std::vector<double> host;     // per host row: a factor of its own time
  bool loads_ahead = false;     // data is loaded in the background

  double DeviceFactor(DeviceId id) const {
    const double scaled = device.empty() ? 1 : device[id.value];
    return at_roof.empty() ? scaled : std::min(scaled, at_roof[id.value]);
  }
  bool IsRemoved(DeviceId id) const { return !removed.empty() && removed[id.value] != 0; }
  double HostFactor(HostId id) const { return host.empty() || !id.valid() ? 1 : host[id.value]; }
};

// Finds the rows of one recording that the names in changes refer to.
class ChangeTargets {
 public:
  ChangeTargets(const RankView& view, const ReplayGraph& graph);

  // Per device row: whether the change applies to it.
  std::vector<char> WorkOf(const Change& change) const;
  // Per host row: whether it, or an event around it, has a name that contains the text.
  std::vector<char> HostIn(std::string_view text, bool is_whole_name = false) const;
  // The outermost events whose name contains the text.
  std::vector<HostId> OutermostOf(std::string_view text) const;
  // Per host row: whether it is, or is inside, a launch all of whose work is removed.
  std::vector<char> LaunchesWithout(const std::vector<char>& removed) const;
  // Per host row: whether the call, or one around it, starts device work.
  std::vector<char> InLaunches() const;
  // Per host row inside data loading: the part of its time that is left if other threads or
  // processes load ahead, and taking a batch takes at most kTakeBatchNs. 1 for all other rows, for
  // launch calls of device work, which stay, and for waits for batches, whose time is not the
  // host's (BatchArrival).
  std::vector<double> TakingBatches() const;
  const std::vector<Phase>& phases() const { return *phases_; }

 private:
  std::vector<char> NamesWith(std::string_view text, bool is_whole_name) const;
  std::vector<char> Inherit(std::vector<char> is_marked) const;

  const RankView& view_;
  const ReplayGraph& graph_;
  std::shared_ptr<const std::vector<Phase>> phases_;
  std::shared_ptr<const AlignedWork> aligned_;
};

// The host time of a graph launch if none was recorded: a call of about 10 us, and 0.3 us for each
// kernel.
inline constexpr int64_t kGraphCallNs = 10'000;
inline constexpr int64_t kGraphKernelNs = 300;
// The time between kernels of a graph if no graph was launched.
inline constexpr int64_t kGraphGapNs = 1'000;

// How many calls, collectives or launches were changed.
struct StructureChange {
  int64_t calls = 0;
  int64_t assumed_ns = 0;  // host time of the launches of graphs
  bool is_unsafe = false;
};

class StructureChanger {
 public:
  // All arguments must outlive it. It changes `lags` and `times`.
  StructureChanger(const RankView& view, const ReplayModel& model, const ChangeTargets& targets,
                   ReplayLags& lags, ChangedTimes& times)
      : view_(view),
        model_(model),
        targets_(targets),
        lags_(lags),
        times_(times),
        graph_lag_ns_(GraphLag(model)) {}

  StructureChange EndWaits(std::string_view text);
  StructureChange OverlapCollectives();
  StructureChange MakeGraphs(std::string_view region);

 private:
  static int64_t GraphLag(const ReplayModel& model);
  const ReplayGraph& graph() const { return model_.graph; }
  bool IsCollective(DeviceId id) const;
  bool IsOptimizer(DeviceId id) const;
  // The work whose end is at the place, or invalid.
  DeviceId WorkEndingAt(Place place) const;
  DeviceId ComputeBefore(DeviceId id) const;
  int64_t LaunchTime(DeviceId id) const;
  void PassCollectives(DeviceId id, std::vector<DeviceId>& passed);
  void HoldOptimizers(const std::vector<DeviceId>& passed);

  // Consecutive host rows of one thread.
  struct Rows {
    TrackId thread;
    uint32_t first = 0;
    uint32_t end = 0;
  };
  // A region that becomes graphs: the rows inside it on its thread and, if it is on the main thread
  // of its process, what the threads of the autograd engine begin meanwhile.
  struct Region {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    std::vector<Rows> rows;  // its own thread first
  };

  // Regions without rows of earlier regions; those of main threads come first.
  std::vector<Region> FindRegions(std::string_view text);
  std::vector<ThreadFacts> EnginesBeside(HostId outermost) const;
  void JoinLaunches(const Region& region, StructureChange& change);
  // Whether a call ends a graph: it waits, or records or awaits an event.
  bool EndsGraph(HostId call) const;
  // The only work that the call starts; invalid if there is none or several.
  DeviceId OnlyWorkOf(HostId call) const;
  bool MayFollow(HostId first, DeviceId work) const;
  // Makes a graph of the launches, and returns how long launching it takes.
  int64_t MakeGraph(const std::vector<HostId>& launches);
  void DropHostTime(const Rows& rows);
  bool Stays(HostId call) const;
  // Removes the time between events of threads of the engine, and that of handing over.
  void DropTimeBetween();
  void DropHandovers();
  TrackId TrackOf(NodeId node) const;
  bool IsBesideRegion(NodeId node) const;

  const RankView& view_;
  const ReplayModel& model_;
  const ChangeTargets& targets_;
  ReplayLags& lags_;
  ChangedTimes& times_;
  const int64_t graph_lag_ns_;  // between kernels of a graph
  // For MakeGraphs only. Per track:
  std::vector<char> is_engine_;
  // Per track of an engine: the times of the regions that it works for, in order.
  std::vector<std::vector<Interval>> beside_;
  // Per host row:
  std::vector<char> is_taken_;   // in a region
  std::vector<char> is_joined_;  // a launch that is part of a graph
};

}  // namespace borescope::internal
