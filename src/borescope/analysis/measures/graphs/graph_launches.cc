#include "borescope/analysis/measures/graphs/graph_launches.h"

#include <algorithm>
#include <charconv>
#include <compare>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {

namespace {

enum class CallRole : char { kUnknown, kNone, kBegin, kEnd, kInstantiate, kLaunch };

CallRole RoleOf(std::string_view name) {
  const auto has = [&](std::string_view part) { return Contains(name, part); };
  if (has("BeginCapture")) {
    return CallRole::kBegin;
  }
  if (has("EndCapture")) {
    return CallRole::kEnd;
  }
  if (has("GraphInstantiate")) {
    return CallRole::kInstantiate;
  }
  return IsLaunchName(name) && !IsGraphLaunchName(name) ? CallRole::kLaunch : CallRole::kNone;
}

class CaptureFinder {
 public:
  explicit CaptureFinder(const RankView& view)
      : view_(view), host_(view.trace.host()), roles_(view.trace.strings().size()) {}

  std::vector<GraphCapture> Find();

 private:
  using Place = std::pair<int64_t, int64_t>;  // process and time

  // kNone for all but the outermost call of a role, as driver calls are inside runtime calls.
  CallRole RoleOfRow(uint32_t row);
  CallRole RoleOfName(uint32_t row);
  void Take(uint32_t row, CallRole role);
  // Whether neither the call nor a driver call inside it started work.
  bool StartsNothing(uint32_t row) const;
  GraphCapture& New(uint32_t row);
  Place PlaceOf(TrackId track, int64_t ts_ns) const;
  // The captures with both ends, in order of their begins.
  std::vector<GraphCapture*> WholeCaptures();
  void CountLaunches();

  const RankView& view_;
  const HostEvents& host_;
  std::vector<CallRole> roles_;  // per text
  std::vector<GraphCapture> found_;
  std::vector<uint32_t> launches_;  // rows of launch calls without work
  bool is_open_ = false;            // whether the end of the last capture was not found yet
};

CallRole CaptureFinder::RoleOfName(uint32_t row) {
  if (host_.kind[row] != HostKind::kRuntime) {
    return CallRole::kNone;
  }
  CallRole& role = roles_[host_.name[row].value];
  if (role == CallRole::kUnknown) {
    role = RoleOf(view_.trace.Text(host_.name[row]));
  }
  return role;
}

CallRole CaptureFinder::RoleOfRow(uint32_t row) {
  const CallRole role = RoleOfName(row);
  const HostId parent = view_.index.tree.parent[row];
  const bool is_inner = parent.valid() && RoleOfName(parent.value) == role;
  return is_inner ? CallRole::kNone : role;
}

bool CaptureFinder::StartsNothing(uint32_t row) const {
  const auto starts_work = [&](uint32_t call) {
    return host_.kind[call] == HostKind::kRuntime && host_.detail[call] != kNoDetail &&
           !view_.index.correlation.DevicesOf(host_.detail[call]).empty();
  };
  const bool has_inner = row + 1 < view_.index.tree.subtree_end[row];
  return !starts_work(row) && !(has_inner && starts_work(row + 1));
}

GraphCapture& CaptureFinder::New(uint32_t row) {
  GraphCapture& capture = found_.emplace_back();
  capture.track = host_.track[row];
  capture.begin_ns = host_.ts_ns[row];
  return capture;
}

void CaptureFinder::Take(uint32_t row, CallRole role) {
  const bool same_track = !found_.empty() && found_.back().track == host_.track[row];
  const bool in_capture = same_track && is_open_;
  if (role == CallRole::kBegin) {
    New(row);
    is_open_ = true;
  } else if (role == CallRole::kEnd) {
    GraphCapture& capture = in_capture ? found_.back() : New(row);
    if (in_capture) {
      capture.capture_ns = host_.end_ns(HostId{row}) - capture.begin_ns;
    }
    is_open_ = false;
  } else if (role == CallRole::kInstantiate) {
    const bool follows = same_track && found_.back().instantiate_ns == kMissing;
    GraphCapture& capture = follows ? found_.back() : New(row);
    capture.instantiate_ns = host_.dur_ns[row];
    is_open_ = is_open_ && follows;
  } else if (role == CallRole::kLaunch && StartsNothing(row)) {
    launches_.push_back(row);
  }
}

CaptureFinder::Place CaptureFinder::PlaceOf(TrackId track, int64_t ts_ns) const {
  return {view_.trace.tracks().pid[track.value], ts_ns};
}

std::vector<GraphCapture*> CaptureFinder::WholeCaptures() {
  std::vector<GraphCapture*> captures;
  for (GraphCapture& capture : found_) {
    if (capture.capture_ns != kMissing) {
      capture.launches = 0;
      captures.push_back(&capture);
    }
  }
  std::stable_sort(captures.begin(), captures.end(),
                   [&](const GraphCapture* a, const GraphCapture* b) {
                     return PlaceOf(a->track, a->begin_ns) < PlaceOf(b->track, b->begin_ns);
                   });
  return captures;
}

// Counts process by process in order of time. A stack holds the captures that began before the
// current launch, the last one on top. A capture that ended before this launch also ended before
// all later ones, and is removed.
void CaptureFinder::CountLaunches() {
  const auto place_of = [&](uint32_t row) { return PlaceOf(host_.track[row], host_.ts_ns[row]); };
  std::stable_sort(launches_.begin(), launches_.end(),
                   [&](uint32_t a, uint32_t b) { return place_of(a) < place_of(b); });
  const std::vector<GraphCapture*> captures = WholeCaptures();
  auto next = captures.begin();
  std::vector<GraphCapture*> open;
  for (const uint32_t row : launches_) {
    const Place place = place_of(row);
    for (; next != captures.end() && PlaceOf((*next)->track, (*next)->begin_ns) <= place; ++next) {
      open.push_back(*next);
    }
    const auto is_over = [&](const GraphCapture& capture) {
      const Place end = PlaceOf(capture.track, capture.begin_ns + capture.capture_ns);
      return end.first != place.first || end.second <= place.second;
    };
    while (!open.empty() && is_over(*open.back())) {
      open.pop_back();
    }
    if (!open.empty()) {
      ++open.back()->launches;
      open.back()->calls.push_back(HostId{row});
    }
  }
}

std::vector<GraphCapture> CaptureFinder::Find() {
  for (uint32_t row = 0; row < host_.size(); ++row) {
    Take(row, RoleOfRow(row));
  }
  CountLaunches();
  std::stable_sort(found_.begin(), found_.end(), [](const GraphCapture& a, const GraphCapture& b) {
    return a.begin_ns < b.begin_ns;
  });
  return std::move(found_);
}

}  // namespace

std::vector<GraphCapture> FindGraphCaptures(const RankView& view, const Selected& selected) {
  std::vector<GraphCapture> captures = CaptureFinder(view).Find();
  std::erase_if(captures,
                [&](const GraphCapture& capture) { return !selected.KeepsTime(capture.begin_ns); });
  return captures;
}

bool IsCaptureName(std::string_view name) {
  const CallRole role = RoleOf(name);
  return role == CallRole::kBegin || role == CallRole::kEnd || role == CallRole::kInstantiate;
}

namespace {

// "graphExec = 0x55d0 | stream = 0x0", or the same as JSON.
std::optional<uint64_t> HandleIn(std::string_view args) {
  constexpr std::string_view kKey = "raphExec";  // graphExec, hGraphExec
  constexpr size_t kMostBetween = 6;             // `" : "`
  const size_t key = args.find(kKey);
  const size_t prefix = key == std::string_view::npos ? key : args.find("0x", key + kKey.size());
  if (prefix == std::string_view::npos || prefix > key + kKey.size() + kMostBetween) {
    return std::nullopt;
  }
  const std::string_view digits = args.substr(prefix + 2);
  uint64_t handle = 0;
  const auto [stop, code] =
      std::from_chars(std::to_address(digits.begin()), std::to_address(digits.end()), handle, 16);
  return code == std::errc() ? std::optional(handle) : std::nullopt;
}

class LaunchFinder {
 public:
  LaunchFinder(const RankView& view, const Selected& selected)
      : view_(view), selected_(selected), host_(view.trace.host()), device_(view.trace.device()) {}

  GraphLaunches Find();

 private:
  using Member = std::pair<int64_t, uint32_t>;  // node and name of device work
  struct Identity {                             // what all launches of one graph share
    int64_t process = kMissing;
    std::optional<uint64_t> handle;
    std::vector<Member> members;  // none if there is a handle

    auto operator<=>(const Identity&) const = default;
  };

  void FindCalls();
  void FindWithoutCalls();
  bool IsLaunch(uint32_t row);
  bool IsWrapper(uint32_t row) const;
  void Add(HostId call, std::span<const DeviceId> works);
  void SortLaunches();
  void NumberGraphs();
  Identity IdentityOf(HostId call, std::span<const DeviceId> works) const;
  uint32_t GraphOf(Identity identity);
  std::vector<Member> MembersOf(std::span<const DeviceId> works) const;
  std::optional<uint64_t> HandleOf(HostId call) const;
  std::tuple<int64_t, uint32_t> PlaceOf(const GraphLaunch& launch) const;

  const RankView& view_;
  const Selected& selected_;
  const HostEvents& host_;
  const DeviceEvents& device_;
  std::vector<char> is_launch_name_;  // per text
  std::vector<DeviceId> works_;       // of the current call
  std::map<Identity, uint32_t> known_;
  GraphLaunches found_;
};

// All work of the launch identifies its graph, selected or not.
void LaunchFinder::Add(HostId call, std::span<const DeviceId> works) {
  GraphLaunch launch;
  launch.call = call;
  launch.first_work = static_cast<uint32_t>(found_.works.size());
  std::copy_if(works.begin(), works.end(), std::back_inserter(found_.works),
               [&](DeviceId id) { return selected_.Keeps(id); });
  launch.end_work = static_cast<uint32_t>(found_.works.size());
  const bool is_kept =
      launch.end_work > launch.first_work || (works.empty() && selected_.Keeps(call));
  if (is_kept) {
    launch.graph = GraphOf(IdentityOf(call, works));
    found_.launches.push_back(launch);
  }
}

// Whether the row is a graph launch. Sets works_ to its work.
bool LaunchFinder::IsLaunch(uint32_t row) {
  works_.clear();
  if (host_.kind[row] != HostKind::kRuntime) {
    return false;
  }
  if (host_.detail[row] != kNoDetail) {
    FindWorks(view_, HostId{row}, works_);
  }
  return is_launch_name_[host_.name[row].value] != 0 ||
         std::any_of(works_.begin(), works_.end(),
                     [&](DeviceId id) { return GraphNodeOf(view_.trace, id) != kMissing; });
}

// Whether another call is the same launch: the driver call inside a runtime call.
bool LaunchFinder::IsWrapper(uint32_t row) const {
  const auto is_launch = [&](uint32_t other) {
    return host_.kind[other] == HostKind::kRuntime && is_launch_name_[host_.name[other].value] != 0;
  };
  const HostId parent = view_.index.tree.parent[row];
  if (parent.valid() && is_launch(parent.value)) {
    return true;
  }
  const uint32_t child = row + 1;
  return child < view_.index.tree.subtree_end[row] && is_launch(child) &&
         host_.detail[child] != kNoDetail &&
         !view_.index.correlation.DevicesOf(host_.detail[child]).empty();
}

void LaunchFinder::FindCalls() {
  is_launch_name_.resize(view_.trace.strings().size());
  for (uint32_t name = 0; name < is_launch_name_.size(); ++name) {
    is_launch_name_[name] = IsGraphLaunchName(view_.trace.Text(StringId{name})) ? 1 : 0;
  }
  for (const uint32_t row : EachRow(host_.size())) {
    if (IsLaunch(row) && !(works_.empty() && IsWrapper(row))) {
      Add(HostId{row}, works_);
    }
  }
}

void LaunchFinder::FindWithoutCalls() {
  std::vector<DeviceId> works;
  for (const uint32_t row : EachRow(device_.size())) {
    if (IsDeviceWork(device_.kind[row]) && !view_.index.correlation.launch_of[row].valid() &&
        IsCorrelation(device_.correlation[row]) &&
        GraphNodeOf(view_.trace, DeviceId{row}) != kMissing) {
      works.push_back(DeviceId{row});
    }
  }
  std::stable_sort(works.begin(), works.end(), [&](DeviceId a, DeviceId b) {
    return std::pair(device_.correlation[a.value], device_.ts_ns[a.value]) <
           std::pair(device_.correlation[b.value], device_.ts_ns[b.value]);
  });
  for (size_t begin = 0, end = 0; begin < works.size(); begin = end) {
    const int64_t number = device_.correlation[works[begin].value];
    while (end < works.size() && device_.correlation[works[end].value] == number) {
      ++end;
    }
    Add(HostId{}, std::span(works).subspan(begin, end - begin));
  }
}

std::tuple<int64_t, uint32_t> LaunchFinder::PlaceOf(const GraphLaunch& launch) const {
  return launch.call.valid()
             ? std::tuple(host_.ts_ns[launch.call.value], launch.call.value)
             : std::tuple(device_.ts_ns[found_.works[launch.first_work].value], launch.first_work);
}

void LaunchFinder::SortLaunches() {
  std::stable_sort(
      found_.launches.begin(), found_.launches.end(),
      [&](const GraphLaunch& a, const GraphLaunch& b) { return PlaceOf(a) < PlaceOf(b); });
}

std::vector<LaunchFinder::Member> LaunchFinder::MembersOf(std::span<const DeviceId> works) const {
  std::vector<Member> members;
  members.reserve(works.size());
  for (const DeviceId id : works) {
    members.emplace_back(GraphNodeOf(view_.trace, id), device_.name[id.value].value);
  }
  std::sort(members.begin(), members.end());
  return members;
}

std::optional<uint64_t> LaunchFinder::HandleOf(HostId call) const {
  if (!call.valid() || host_.detail[call.value] == kNoDetail) {
    return std::nullopt;
  }
  return HandleIn(view_.trace.Text(view_.trace.runtime_calls().args[host_.detail[call.value]]));
}

// The process is that of the call where the call alone identifies the graph. Otherwise, as calls
// may be missing, it is that of the stream, which is kMissing if only one process has device work.
LaunchFinder::Identity LaunchFinder::IdentityOf(HostId call,
                                                std::span<const DeviceId> works) const {
  const Tracks& tracks = view_.trace.tracks();
  Identity identity;
  identity.handle = HandleOf(call);
  if (identity.handle || works.empty()) {
    identity.process = tracks.pid[host_.track[call.value].value];
  } else {
    identity.process = tracks.process[device_.track[works.front().value].value];
    identity.members = MembersOf(works);
  }
  return identity;
}

uint32_t LaunchFinder::GraphOf(Identity identity) {
  const std::optional<uint64_t> handle = identity.handle;
  // Members are sorted, and a missing number is the smallest.
  const GraphBy by = handle                                      ? GraphBy::kHandle
                     : identity.members.empty()                  ? GraphBy::kNothing
                     : identity.members.back().first != kMissing ? GraphBy::kNodes
                                                                 : GraphBy::kKernels;
  const auto [place, is_new] =
      known_.try_emplace(std::move(identity), static_cast<uint32_t>(found_.graphs.size()));
  if (is_new) {
    found_.graphs.push_back({by, handle.value_or(0)});
  }
  return place->second;
}

// Numbers the graphs by their first launch, as calls were visited thread by thread.
void LaunchFinder::NumberGraphs() {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> numbers(found_.graphs.size(), kNone);
  std::vector<Graph> graphs;
  graphs.reserve(found_.graphs.size());
  for (GraphLaunch& launch : found_.launches) {
    uint32_t& number = numbers[launch.graph];
    if (number == kNone) {
      number = static_cast<uint32_t>(graphs.size());
      graphs.push_back(found_.graphs[launch.graph]);
    }
    launch.graph = number;
  }
  found_.graphs = std::move(graphs);
}

GraphLaunches LaunchFinder::Find() {
  FindCalls();
  FindWithoutCalls();
  SortLaunches();
  NumberGraphs();
  return std::move(found_);
}

}  // namespace

std::string_view GraphByName(GraphBy by) {
  constexpr std::string_view kNames[] = {"handle", "nodes", "kernels", "nothing"};
  return kNames[static_cast<size_t>(by)];
}

GraphLaunches FindGraphLaunches(const RankView& view, const Selected& selected) {
  return LaunchFinder(view, selected).Find();
}

int64_t GraphNodeOf(const Trace& trace, DeviceId id) {
  const DeviceEvents& device = trace.device();
  if (device.kind[id.value] != DeviceKind::kKernel || device.detail[id.value] == kNoDetail) {
    return kMissing;
  }
  const int64_t node = trace.kernels().graph_node_id[device.detail[id.value]];
  return node == 0 || node == -1 ? kMissing : node;
}

bool IsGraphLaunchName(std::string_view name) { return Contains(name, "GraphLaunch"); }

bool HasGraphs(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<char> known(
      view.trace.strings().size());  // per text: 1 if it is not the name of a call of graphs
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] != HostKind::kRuntime || known[host.name[row].value] != 0) {
      continue;
    }
    const std::string_view name = view.trace.Text(host.name[row]);
    if (IsGraphLaunchName(name) || IsCaptureName(name)) {
      return true;
    }
    known[host.name[row].value] = 1;
  }
  for (const uint32_t row : EachRow(view.trace.device().size())) {
    if (GraphNodeOf(view.trace, DeviceId{row}) != kMissing) {
      return true;
    }
  }
  return false;
}

}  // namespace borescope::internal
