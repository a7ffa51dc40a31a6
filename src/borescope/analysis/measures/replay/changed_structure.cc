#include "borescope/analysis/measures/replay/changed_structure.h"

#include <algorithm>
#include <span>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

LagKind KindOfEdge(const ReplayGraph& graph, uint32_t edge) {
  return graph.classes.Key(graph.lag_class[edge]).kind;
}

}  // namespace

// As measured, where graphs were launched.
int64_t StructureChanger::GraphLag(const ReplayModel& model) {
  for (size_t id = 0; id < model.constants.size(); ++id) {
    if (model.graph.classes.Key(static_cast<LagClassId>(id)).kind == LagKind::kGraph) {
      return model.constants[id].lag_ns;
    }
  }
  return kGraphGapNs;
}

bool StructureChanger::IsCollective(DeviceId id) const {
  return ActivityOf(view_.trace.device().kind[id.value], view_.index.ClassOf(view_.trace, id)) ==
         Activity::kCommunication;
}

DeviceId StructureChanger::WorkEndingAt(Place place) const {
  const EventGraph& events = graph().recording.graph;
  const NodeId node = graph().node[place];
  if (events.side[node] != NodeSide::kDevice) {
    return {};
  }
  const DeviceId id{events.event[node]};
  return graph().EndOf(id) == place ? id : DeviceId{};
}

StructureChange StructureChanger::EndWaits(std::string_view text) {
  const std::vector<char> in = targets_.HostIn(text);
  const EventGraph& events = graph().recording.graph;
  StructureChange change;
  for (Place place = 0; place < graph().places(); ++place) {
    CheckStopAt(place);
    const NodeId node = graph().node[place];
    if (events.side[node] != NodeSide::kHost || in[events.event[node]] == 0) {
      continue;
    }
    bool waits = false;
    for (uint32_t edge = graph().first_edge[place]; edge < graph().first_edge[place + 1]; ++edge) {
      if (graph().lag_class[edge] != kOwnLag && KindOfEdge(graph(), edge) == LagKind::kWait) {
        lags_.ns[edge] = kNoDependency;
        waits = true;
      }
    }
    change.calls += waits ? 1 : 0;
  }
  change.is_unsafe = change.calls > 0;
  return change;
}

bool StructureChanger::IsOptimizer(DeviceId id) const {
  return PhaseOf(view_, targets_.phases(), id) == Phase::kOptimizer;
}

// The work before it on its stream that is no collective; invalid if there is none.
DeviceId StructureChanger::ComputeBefore(DeviceId id) const {
  const uint32_t first = view_.trace.tracks().first_row[view_.trace.device().track[id.value].value];
  for (uint32_t row = id.value; row-- > first;) {
    CheckStopAt(row);
    if (graph().IsWork({row}) && !IsCollective({row})) {
      return {row};
    }
  }
  return {};
}

int64_t StructureChanger::LaunchTime(DeviceId id) const {
  const HostId launch = view_.index.correlation.launch_of[id.value];
  return launch.valid() ? view_.trace.host().ts_ns[launch.value]
                        : view_.trace.device().ts_ns[id.value];
}

StructureChange StructureChanger::OverlapCollectives() {
  std::vector<DeviceId> passed;
  for (uint32_t row = 0; row < view_.trace.device().size(); ++row) {
    CheckStopAt(row);
    if (graph().IsWork({row}) && !IsCollective({row}) && !IsOptimizer({row})) {
      PassCollectives({row}, passed);
    }
  }
  const StructureChange change{.calls = static_cast<int64_t>(passed.size()),
                               .is_unsafe = !passed.empty()};
  HoldOptimizers(passed);
  return change;
}

// On its stream the work follows no collective any more, but the work that was before it. Waits
// by events stay: they are for data.
void StructureChanger::PassCollectives(DeviceId id, std::vector<DeviceId>& passed) {
  const Place start = graph().StartOf(id);
  for (uint32_t edge = graph().first_edge[start]; edge < graph().first_edge[start + 1]; ++edge) {
    const DeviceId before = WorkEndingAt(graph().source[edge]);
    if (graph().lag_class[edge] == kOwnLag || KindOfEdge(graph(), edge) != LagKind::kStream ||
        !before.valid() || !IsCollective(before)) {
      continue;
    }
    const DeviceId compute = ComputeBefore(id);
    if (compute.valid() && graph().EndOf(compute) < start) {
      lags_.added.push_back({start, graph().EndOf(compute), lags_.ns[edge]});
    }
    lags_.ns[edge] = kNoDependency;
    passed.push_back(before);
  }
}

// The optimizer needs what collectives before it bring: its first work waits for them.
void StructureChanger::HoldOptimizers(const std::vector<DeviceId>& passed) {
  std::vector<std::pair<int64_t, DeviceId>> optimizers;
  for (uint32_t row = 0; row < view_.trace.device().size(); ++row) {
    if (graph().IsWork({row}) && IsOptimizer({row})) {
      optimizers.emplace_back(LaunchTime({row}), DeviceId{row});
    }
  }
  std::sort(optimizers.begin(), optimizers.end());
  for (const DeviceId collective : passed) {
    const auto next = std::lower_bound(optimizers.begin(), optimizers.end(),
                                       std::pair(LaunchTime(collective), DeviceId{0}));
    if (next != optimizers.end() && graph().EndOf(collective) < graph().StartOf(next->second)) {
      lags_.added.push_back({graph().StartOf(next->second), graph().EndOf(collective), 0});
    }
  }
}

StructureChange StructureChanger::MakeGraphs(std::string_view region) {
  StructureChange change;
  if (times_.host.empty()) {
    times_.host.assign(view_.trace.host().all_size(), 1);
  }
  for (const HostId outermost : targets_.OutermostOf(region)) {
    JoinLaunches(outermost, change);
  }
  return change;
}

bool StructureChanger::EndsGraph(HostId call) const {
  const std::string_view name = view_.trace.Text(view_.trace.host().name[call.value]);
  return (graph().recording.facts.marks[call.value] & kMarkWaits) != 0 ||
         name.find("Synchronize") != std::string_view::npos ||
         name.find("EventRecord") != std::string_view::npos ||
         name.find("WaitEvent") != std::string_view::npos;
}

void StructureChanger::JoinLaunches(HostId region, StructureChange& change) {
  const HostEvents& host = view_.trace.host();
  const Correlation& links = view_.index.correlation;
  std::vector<HostId> launches;
  std::vector<char> is_joined(view_.index.tree.subtree_end[region.value] - region.value);
  TrackId stream;
  const auto finish = [&] {
    if (launches.size() > 1) {
      change.assumed_ns += MakeGraph(launches);
      change.calls += static_cast<int64_t>(launches.size());
      for (const HostId launch : launches) {
        is_joined[launch.value - region.value] = 1;
      }
    }
    launches.clear();
  };
  for (uint32_t row = region.value; row < view_.index.tree.subtree_end[region.value]; ++row) {
    CheckStopAt(row);
    if (host.kind[row] != HostKind::kRuntime) {
      continue;
    }
    const auto works = host.detail[row] == kNoDetail ? std::span<const DeviceId>()
                                                     : links.DevicesOf(host.detail[row]);
    const bool is_launch = works.size() == 1 && graph().IsWork(works.front()) &&
                           links.launch_of[works.front().value] == HostId{row};
    if (EndsGraph({row}) || (is_launch && IsCollective(works.front()))) {
      finish();
    } else if (is_launch) {
      if (!launches.empty() && stream != view_.trace.device().track[works.front().value]) {
        finish();
      }
      stream = view_.trace.device().track[works.front().value];
      launches.push_back({row});
    }
  }
  finish();
  DropHostTime(region, is_joined);
}

// One call at the first of the launches puts all their work on the device.
int64_t StructureChanger::MakeGraph(const std::vector<HostId>& launches) {
  const Correlation& links = view_.index.correlation;
  const Place first = graph().place_of[graph().recording.start_of_event[launches.front().value]];
  const auto works = static_cast<int64_t>(launches.size());
  const Place next = graph().place_of[graph().node[first] + 1];
  const int64_t call_ns = kGraphCallNs + kGraphKernelNs * works;
  lags_.added.push_back({next, first, call_ns});
  int64_t launch_ns = 0;
  for (const HostId launch : launches) {
    const DeviceId work = links.DevicesOf(view_.trace.host().detail[launch.value]).front();
    const Place start = graph().StartOf(work);
    for (uint32_t edge = graph().first_edge[start]; edge < graph().first_edge[start + 1]; ++edge) {
      if (graph().lag_class[edge] == kOwnLag) {
        continue;
      }
      const LagKind kind = KindOfEdge(graph(), edge);
      if (kind == LagKind::kLaunch) {
        launch_ns = launch == launches.front() ? lags_.ns[edge] : launch_ns;
        lags_.ns[edge] = kNoDependency;
      } else if (kind == LagKind::kStream && launch != launches.front()) {
        lags_.ns[edge] = std::min(lags_.ns[edge], graph_lag_ns_);
      }
    }
    lags_.added.push_back({start, first, launch_ns});
  }
  return call_ns;
}

// All that the host did in the region, but to load data, to wait, and in calls that stay.
void StructureChanger::DropHostTime(HostId region, const std::vector<char>& is_joined) {
  const HostEvents& host = view_.trace.host();
  const std::vector<char>& is_loading = graph().recording.facts.is_loading;
  const uint32_t end = view_.index.tree.subtree_end[region.value];
  std::vector<char> stays(end - region.value);
  for (uint32_t row = region.value; row < end; ++row) {
    CheckStopAt(row);
    const uint32_t at = row - region.value;
    const HostId parent = view_.index.tree.parent[row];
    const bool is_call = host.kind[row] == HostKind::kRuntime && is_joined[at] == 0;
    const bool is_in_staying =
        row != region.value && parent.valid() && stays[parent.value - region.value] != 0;
    stays[at] = is_in_staying || is_call || is_loading[host.name[row].value] != 0 ? 1 : 0;
    if (stays[at] == 0) {
      times_.host[row] = 0;
    }
  }
}

}  // namespace borescope::internal
