#include "borescope/analysis/measures/replay/changed_structure.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

ChangeTargets::ChangeTargets(const RankView& view, const ReplayGraph& graph)
    : view_(view),
      graph_(graph),
      phases_(SharedHostPhases(view)),
      aligned_(SharedAlignedWork(view)) {}

std::vector<char> ChangeTargets::NamesWith(std::string_view text, bool is_whole_name) const {
  std::vector<char> has(view_.trace.strings().size());
  for (uint32_t name = 0; name < has.size(); ++name) {
    const std::string_view found = view_.trace.Text({name});
    has[name] = (is_whole_name ? found == text : Contains(found, text)) ? 1 : 0;
  }
  return has;
}

std::vector<char> ChangeTargets::Inherit(std::vector<char> is_marked) const {
  for (const uint32_t row : EachRow(is_marked.size())) {
    const HostId parent = view_.index.tree.parent[row];
    if (parent.valid() && is_marked[parent.value] != 0) {
      is_marked[row] = 1;
    }
  }
  return is_marked;
}

std::vector<char> ChangeTargets::HostIn(std::string_view text, bool is_whole_name) const {
  const std::vector<char> has = NamesWith(text, is_whole_name);
  const HostEvents& host = view_.trace.host();
  std::vector<char> is_marked(host.all_size());
  for (uint32_t row = 0; row < is_marked.size(); ++row) {
    is_marked[row] = has[host.name[row].value];
  }
  return Inherit(std::move(is_marked));
}

std::vector<HostId> ChangeTargets::OutermostOf(std::string_view text) const {
  const std::vector<char> in = HostIn(text);
  std::vector<HostId> outermost;
  for (uint32_t row = 0; row < view_.trace.host().size(); ++row) {
    const HostId parent = view_.index.tree.parent[row];
    if (in[row] != 0 && (!parent.valid() || in[parent.value] == 0)) {
      outermost.push_back({row});
    }
  }
  return outermost;
}

std::vector<char> ChangeTargets::WorkOf(const Change& change) const {
  const Trace& trace = view_.trace;
  const DeviceEvents& device = trace.device();
  const std::vector<char> named = change.target == TargetKind::kKernel
                                      ? NamesWith(change.text, change.is_whole_name)
                                      : std::vector<char>();
  const std::vector<char> in =
      change.target == TargetKind::kOp ? HostIn(change.text) : std::vector<char>();
  const auto is_target = [&](DeviceId id) {
    const KernelClass kind = view_.index.ClassOf(trace, id);
    const bool is_kernel = device.kind[id.value] == DeviceKind::kKernel;
    switch (change.target) {
      case TargetKind::kKernel:
        return named[device.name[id.value].value] != 0;
      case TargetKind::kOp: {
        const HostId origin = view_.index.correlation.OriginOf(aligned_->AsLaunched(id));
        return origin.valid() && in[origin.value] != 0;
      }
      case TargetKind::kClass:
        return is_kernel && KernelClassName(kind) == change.text;
      case TargetKind::kComm:
        return ActivityOf(device.kind[id.value], kind) == Activity::kCommunication;
      case TargetKind::kCopy:
        return ActivityOf(device.kind[id.value], kind) == Activity::kCopy;
      case TargetKind::kPhase:
        return PhaseName(PhaseOf(view_, *phases_, aligned_->AsLaunched(id))) == change.text;
      case TargetKind::kNone:
      case TargetKind::kHost:
        return false;
    }
    return false;
  };
  std::vector<char> work(device.size());
  for (const uint32_t row : EachRow(device.size())) {
    work[row] = graph_.IsWork({row}) && is_target({row}) ? 1 : 0;
  }
  return work;
}

std::vector<char> ChangeTargets::LaunchesWithout(const std::vector<char>& removed) const {
  std::vector<char> has_other(view_.trace.host().all_size());
  std::vector<char> has_removed(has_other.size());
  for (uint32_t row = 0; row < removed.size(); ++row) {
    const HostId launch = view_.index.correlation.launch_of[row];
    if (launch.valid() && graph_.IsWork({row})) {
      (removed[row] != 0 ? has_removed : has_other)[launch.value] = 1;
    }
  }
  for (size_t row = 0; row < has_removed.size(); ++row) {
    has_removed[row] = has_removed[row] != 0 && has_other[row] == 0 ? 1 : 0;
  }
  return Inherit(std::move(has_removed));
}

std::vector<char> ChangeTargets::InLaunches() const {
  std::vector<char> launches(view_.trace.host().all_size());
  for (uint32_t row = 0; row < view_.trace.device().size(); ++row) {
    const HostId launch = view_.index.correlation.launch_of[row];
    if (launch.valid() && graph_.IsWork({row})) {
      launches[launch.value] = 1;
    }
  }
  return Inherit(std::move(launches));
}

std::vector<double> ChangeTargets::TakingBatches() const {
  const HostEvents& host = view_.trace.host();
  const std::vector<char>& is_loading = graph_.recording.facts.is_loading;
  std::vector<char> marked(host.all_size());
  for (uint32_t row = 0; row < marked.size(); ++row) {
    marked[row] = is_loading[host.name[row].value];
  }
  const std::vector<char> inside = Inherit(std::move(marked));
  std::vector<char> is_arrival(inside.size());
  for (const BatchArrival& arrival : graph_.arrivals) {
    is_arrival[arrival.event.value] = 1;
  }
  std::vector<double> factor(inside.size(), 1);
  for (const uint32_t row : EachRow(host.size())) {
    const HostId parent = view_.index.tree.parent[row];
    if (inside[row] == 0) {
      continue;
    }
    if (parent.valid() && inside[parent.value] != 0) {
      factor[row] = factor[parent.value];
    } else if (is_arrival[row] == 0 && host.dur_ns[row] > kTakeBatchNs) {
      factor[row] = static_cast<double>(kTakeBatchNs) / static_cast<double>(host.dur_ns[row]);
    }
  }
  const std::vector<char> launches = InLaunches();
  for (uint32_t row = 0; row < factor.size(); ++row) {
    factor[row] = launches[row] != 0 ? 1 : factor[row];
  }
  return factor;
}

namespace {

LagKind KindOfEdge(const ReplayGraph& graph, uint32_t edge) {
  return graph.classes.Key(graph.lag_class[edge]).kind;
}

}  // namespace

// The measured time between kernels of graphs if graphs were launched, else the usual one.
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

// The last work before it on its stream that is not a collective, or invalid.
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
  for (const uint32_t row : EachRow(view_.trace.device().size())) {
    if (graph().IsWork({row}) && !IsCollective({row}) && !IsOptimizer({row})) {
      PassCollectives({row}, passed);
    }
  }
  const StructureChange change{.calls = static_cast<int64_t>(passed.size()),
                               .is_unsafe = !passed.empty()};
  HoldOptimizers(passed);
  return change;
}

// Makes the work follow, instead of a collective, the work before that on its stream. Waits by
// events stay, as they are for data.
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

// The optimizer needs the results of collectives before it, so its first work waits for them.
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
  const size_t rows = view_.trace.host().all_size();
  if (times_.host.empty()) {
    times_.host.assign(rows, 1);
  }
  is_engine_ = FindEngines(view_);
  is_taken_.assign(rows, 0);
  is_joined_.assign(rows, 0);
  beside_.assign(view_.trace.tracks().size(), {});
  const std::vector<Region> regions = FindRegions(region);
  for (const Region& one : regions) {
    JoinLaunches(one, change);
    for (const Rows& part : one.rows) {
      DropHostTime(part);
    }
  }
  DropTimeBetween();
  DropHandovers();
  return change;
}

// The threads of the engine in the process of a main thread; none for other threads.
std::vector<ThreadFacts> StructureChanger::EnginesBeside(HostId outermost) const {
  const Tracks& tracks = view_.trace.tracks();
  const TrackId own = view_.trace.host().track[outermost.value];
  std::vector<ThreadFacts> engines;
  bool is_on_main = false;
  for (const ThreadFacts& thread : graph().recording.facts.threads) {
    const bool is_own = thread.track == own;
    is_on_main = is_on_main || (is_own && thread.is_main);
    if (!is_own && is_engine_[thread.track.value] != 0 &&
        tracks.pid[thread.track.value] == tracks.pid[own.value]) {
      engines.push_back(thread);
    }
  }
  return is_on_main ? engines : std::vector<ThreadFacts>();
}

std::vector<StructureChanger::Region> StructureChanger::FindRegions(std::string_view text) {
  const HostEvents& host = view_.trace.host();
  std::vector<HostId> outermost = targets_.OutermostOf(text);
  std::stable_partition(outermost.begin(), outermost.end(),
                        [&](HostId id) { return is_engine_[host.track[id.value].value] == 0; });
  std::vector<Region> regions;
  for (const HostId id : outermost) {
    if (is_taken_[id.value] != 0) {
      continue;
    }
    Region region{host.ts_ns[id.value], host.end_ns(id), {}};
    region.rows.push_back({host.track[id.value], id.value, view_.index.tree.subtree_end[id.value]});
    for (const ThreadFacts& engine : EnginesBeside(id)) {
      beside_[engine.track.value].push_back({region.begin_ns, region.end_ns});
      const auto first = host.ts_ns.begin() + view_.trace.tracks().first_row[engine.track.value];
      const auto end = host.ts_ns.begin() + view_.trace.tracks().end_row[engine.track.value];
      const auto begin = std::lower_bound(first, end, region.begin_ns);
      region.rows.push_back({engine.track, static_cast<uint32_t>(begin - host.ts_ns.begin()),
                             static_cast<uint32_t>(std::lower_bound(begin, end, region.end_ns) -
                                                   host.ts_ns.begin())});
    }
    for (const Rows& rows : region.rows) {
      std::fill(is_taken_.begin() + rows.first, is_taken_.begin() + rows.end, 1);
    }
    regions.push_back(std::move(region));
  }
  return regions;
}

bool StructureChanger::EndsGraph(HostId call) const {
  const std::string_view name = view_.trace.Text(view_.trace.host().name[call.value]);
  return (graph().recording.facts.marks[call.value] & kMarkWaits) != 0 ||
         name.find("Synchronize") != std::string_view::npos ||
         name.find("EventRecord") != std::string_view::npos ||
         name.find("WaitEvent") != std::string_view::npos;
}

DeviceId StructureChanger::OnlyWorkOf(HostId call) const {
  const HostEvents& host = view_.trace.host();
  const Correlation& links = view_.index.correlation;
  const auto works = host.detail[call.value] == kNoDetail
                         ? std::span<const DeviceId>()
                         : links.DevicesOf(host.detail[call.value]);
  const bool is_launch = works.size() == 1 && graph().IsWork(works.front()) &&
                         links.launch_of[works.front().value] == call;
  return is_launch ? works.front() : DeviceId{};
}

void StructureChanger::JoinLaunches(const Region& region, StructureChange& change) {
  const HostEvents& host = view_.trace.host();
  std::vector<HostId> calls;
  for (const Rows& rows : region.rows) {
    for (const uint32_t row : EachRow(rows.first, rows.end)) {
      if (host.kind[row] == HostKind::kRuntime) {
        calls.push_back({row});
      }
    }
  }
  // The calls of one thread are in this order already.
  std::stable_sort(calls.begin(), calls.end(),
                   [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  std::vector<HostId> launches;
  TrackId stream;
  const auto finish = [&] {
    if (launches.size() > 1) {
      change.assumed_ns += MakeGraph(launches);
      change.calls += static_cast<int64_t>(launches.size());
      for (const HostId launch : launches) {
        is_joined_[launch.value] = 1;
      }
    }
    launches.clear();
  };
  for (const HostId call : calls) {
    const DeviceId work = OnlyWorkOf(call);
    if (EndsGraph(call) || (work.valid() && IsCollective(work))) {
      finish();
    } else if (work.valid()) {
      const TrackId to = view_.trace.device().track[work.value];
      if (!launches.empty() && (stream != to || !MayFollow(launches.front(), work))) {
        finish();
      }
      stream = to;
      launches.push_back(call);
    }
  }
  finish();
}

// Whether the work comes after the first launch of its graph in the order of the replay.
bool StructureChanger::MayFollow(HostId first, DeviceId work) const {
  return graph().place_of[graph().recording.start_of_event[first.value]] < graph().StartOf(work);
}

// Replaces the launches by one call at the place of the first, which starts all their work.
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

// Removes all host time except data loading, waits, and calls that stay: those that end a graph, or
// start work outside of graphs.
void StructureChanger::DropHostTime(const Rows& rows) {
  const HostEvents& host = view_.trace.host();
  const std::vector<char>& is_loading = graph().recording.facts.is_loading;
  std::vector<char> stays(rows.end - rows.first);
  for (const uint32_t row : EachRow(rows.first, rows.end)) {
    const uint32_t at = row - rows.first;
    const HostId parent = view_.index.tree.parent[row];
    const bool is_in_staying = parent.valid() && parent.value >= rows.first && row != rows.first &&
                               stays[parent.value - rows.first] != 0;
    stays[at] = is_in_staying || Stays({row}) || is_loading[host.name[row].value] != 0 ? 1 : 0;
    if (stays[at] == 0) {
      times_.host[row] = 0;
    }
  }
}

bool StructureChanger::Stays(HostId call) const {
  const HostEvents& host = view_.trace.host();
  if (host.kind[call.value] != HostKind::kRuntime || is_joined_[call.value] != 0) {
    return false;
  }
  const bool starts_work = host.detail[call.value] != kNoDetail &&
                           !view_.index.correlation.DevicesOf(host.detail[call.value]).empty();
  return EndsGraph(call) || starts_work;
}

void StructureChanger::DropTimeBetween() {
  const EventGraph& events = graph().recording.graph;
  for (const size_t i : EachIndex(graph().parts.size())) {
    const HostPart& part = graph().parts[i];
    const NodeId node = graph().node[part.place];
    if (part.event.valid() || events.side[node] != NodeSide::kHost || !IsBesideRegion(node)) {
      continue;
    }
    const uint32_t edge = graph().ThreadEdgeInto(part.place);
    if (edge != kNoEdge && graph().own_ns[edge] > 0) {
      const double left =
          static_cast<double>(model_.lags.ns[edge]) / static_cast<double>(graph().own_ns[edge]);
      lags_.ns[edge] -= std::llround(static_cast<double>(part.ns) * left);
    }
  }
}

void StructureChanger::DropHandovers() {
  const EventGraph& events = graph().recording.graph;
  for (Place place = 0; place < graph().places(); ++place) {
    CheckStopAt(place);
    const NodeId to = graph().node[place];
    if (events.side[to] != NodeSide::kHost) {
      continue;
    }
    for (uint32_t edge = graph().first_edge[place]; edge < graph().first_edge[place + 1]; ++edge) {
      const NodeId from = graph().node[graph().source[edge]];
      if (graph().lag_class[edge] == kOwnLag && events.side[from] == NodeSide::kHost &&
          TrackOf(from) != TrackOf(to) && (IsBesideRegion(to) || IsBesideRegion(from))) {
        lags_.ns[edge] = std::min<int64_t>(lags_.ns[edge], 0);
      }
    }
  }
}

TrackId StructureChanger::TrackOf(NodeId node) const {
  return view_.trace.host().track[graph().recording.graph.event[node]];
}

// Whether the node is on a thread of the engine during a region of the main thread.
bool StructureChanger::IsBesideRegion(NodeId node) const {
  const std::vector<Interval>& times = beside_[TrackOf(node).value];
  const int64_t ns = graph().recording.graph.ts_ns[node];
  const auto after =
      std::upper_bound(times.begin(), times.end(), ns,
                       [](int64_t at, const Interval& time) { return at < time.begin; });
  return after != times.begin() && ns <= std::prev(after)->end;
}

}  // namespace borescope::internal
