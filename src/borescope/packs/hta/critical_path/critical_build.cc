#include "borescope/packs/hta/critical_path/critical_build.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/hta/frame.h"

namespace borescope::internal {

namespace {

struct Span {
  int64_t begin_us = std::numeric_limits<int64_t>::max();
  int64_t end_us = std::numeric_limits<int64_t>::min();

  bool Holds(int64_t ts_us) const { return begin_us <= ts_us && ts_us <= end_us; }
};

// Inclusive; HTA's default is the first occurrence.
Result<std::pair<int64_t, int64_t>> InstancesOf(const Selection& selection) {
  const auto& ranges = selection.instances.ranges;
  if (ranges.size() > 1) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "HTA looks at one occurrence or at one range of them",
                 .remedy = "give N or N..M",
                 .parameter = "instance"};
  }
  return ranges.empty() ? std::pair<int64_t, int64_t>{0, 0} : ranges.front();
}

std::vector<HtaEventRow> RowsNamed(const HtaEvents& events, std::string_view part) {
  std::vector<char> matches(events.trace().strings().size(), 0);
  for (uint32_t id = 0; id < matches.size(); ++id) {
    matches[id] = Contains(events.trace().Text(StringId{id}), part) ? 1 : 0;
  }
  std::vector<HtaEventRow> rows = events.FrameOrder();
  std::erase_if(rows, [&](HtaEventRow row) { return matches[events[row].name.value] == 0; });
  return rows;
}

Error NoOccurrence(const HtaEvents& events, const std::string& annotation, int64_t wanted,
                   size_t there) {
  const std::string where = " in what HTA keeps of " + events.trace().meta().file;
  if (there == 0) {
    return {ErrorCode::kMissingData, "no name with '" + annotation + "'" + where,
            "give another `annotation`"};
  }
  return {ErrorCode::kMissingData,
          "no occurrence " + std::to_string(wanted) + " of names with '" + annotation + "'" + where,
          "give an `instance` below " + std::to_string(there)};
}

Result<Span> SpanOf(const HtaEvents& events, const Selection& selection) {
  if (selection.annotation.empty()) {
    return Span{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
  BS_ASSIGN(const auto instances, InstancesOf(selection));
  const std::vector<HtaEventRow> rows = RowsNamed(events, selection.annotation);
  Span span;
  const auto end =
      static_cast<size_t>(std::min(instances.second, static_cast<int64_t>(rows.size()) - 1) + 1);
  for (auto i = static_cast<size_t>(instances.first); i < end; ++i) {
    span.begin_us = std::min(span.begin_us, events[rows[i]].ts_us);
    span.end_us = std::max(span.end_us, events[rows[i]].end_us());
  }
  if (span.begin_us > span.end_us) {
    return NoOccurrence(events, selection.annotation, instances.first, rows.size());
  }
  return span;
}

bool IsHostSide(const HtaEvents& events, HtaEventRow row) { return events[row].stream == -1; }

}  // namespace

Result<std::vector<HtaEventRow>> HtaCriticalWindow(const HtaEvents& events,
                                                   const Selection& selection) {
  BS_ASSIGN(const Span span, SpanOf(events, selection));
  std::vector<char> keeps(events.size(), 0);
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    const HtaEvent& event = events[row];
    if (!IsHostSide(events, row)) {
      if (events.NameOf(row) == "Stream Wait Event") {
        keeps[row] = 1;
      }
    } else if (span.Holds(event.ts_us) && event.dur_us > 0) {
      keeps[row] = 1;
      if (event.partner != kNoHtaEvent && !IsHostSide(events, event.partner)) {
        keeps[event.partner] = 1;
      }
    }
  }
  std::vector<HtaEventRow> window;
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    if (keeps[row] != 0) {
      window.push_back(row);
    }
  }
  return window;
}

bool HasCriticalNodes(const HtaEvents& events, HtaEventRow row, std::string_view data_load) {
  const HtaEvent& event = events[row];
  if (!data_load.empty() && Contains(events.NameOf(row), data_load)) {
    return true;
  }
  if (event.stream != -1 && event.correlation >= 0) {
    return true;
  }
  const HostKind kind =
      event.is_host() ? events.trace().host().kind[event.host.value] : HostKind::kOther;
  return kind == HostKind::kOp || kind == HostKind::kRuntime;
}

std::vector<CriticalNode> CriticalNodes(const HtaEvents& events,
                                        const std::vector<HtaEventRow>& window,
                                        std::string_view data_load) {
  std::vector<CriticalNode> nodes;
  for (const HtaEventRow row : window) {
    if (HasCriticalNodes(events, row, data_load)) {
      nodes.push_back({row, events[row].ts_us, true});
      nodes.push_back({row, events[row].end_us(), false});
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const CriticalNode& a, const CriticalNode& b) {
    return a.ts_us != b.ts_us ? a.ts_us < b.ts_us : a.event < b.event;
  });
  return nodes;
}

// Operators and calls of a thread, nested: time flows from start to start, from end to end, and
// between the end of one and the start of the next. Which events contain which others follows HTA's
// older call stack: an end closes whatever was opened last.

namespace {

// ---- Threads ----

// The only thread with operators or annotations whose name contains `part`; none if there are
// several.
std::optional<int64_t> OnlyThreadWith(const CriticalBuild& build, std::string_view part) {
  std::optional<int64_t> only;
  const HostEvents& host = build.events.trace().host();
  for (const HtaEventRow row : build.window) {
    const HtaEvent& event = build.events[row];
    if (!event.is_host() || (host.kind[event.host.value] != HostKind::kOp &&
                             host.kind[event.host.value] != HostKind::kAnnotation)) {
      continue;
    }
    if (only != event.tid && Contains(build.events.NameOf(row), part)) {
      if (only.has_value()) {
        return std::nullopt;
      }
      only = event.tid;
    }
  }
  return only == 0 ? std::nullopt : only;
}

struct ThreadRow {
  int64_t pid;
  int64_t tid;
  HtaEventRow row;
};

// By thread, then by position. HTA treats the thread of the backward pass as the thread of the
// forward pass. Threads with a stream have no stacks.
std::vector<ThreadRow> ThreadRows(const CriticalBuild& build) {
  const std::optional<int64_t> forward = OnlyThreadWith(build, "forward");
  const std::optional<int64_t> backward = OnlyThreadWith(build, "autograd");
  std::vector<ThreadRow> rows;
  for (const HtaEventRow row : build.window) {
    const HtaEvent& event = build.events[row];
    const bool moves = forward.has_value() && event.tid == backward;
    rows.push_back({event.pid, moves ? *forward : event.tid, row});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ThreadRow& a, const ThreadRow& b) {
    return std::tie(a.pid, a.tid) < std::tie(b.pid, b.tid);
  });
  return rows;
}

// ---- Stacks ----

struct Mark {
  HtaEventRow row;
  int64_t ts_us;
  bool is_start;
};

// Starts and ends on a thread in their order. REQUIRES: durations above 0.
std::vector<Mark> MarksOf(const HtaEvents& events, const ThreadRow* begin, const ThreadRow* end) {
  std::vector<Mark> marks;
  for (const ThreadRow* thread = begin; thread != end; ++thread) {
    const HtaEvent& event = events[thread->row];
    marks.push_back({thread->row, event.ts_us, true});
    marks.push_back({thread->row, event.end_us(), false});
  }
  std::sort(marks.begin(), marks.end(), [&](const Mark& a, const Mark& b) {
    const int64_t a_dur = events[a.row].dur_us;
    const int64_t b_dur = events[b.row].dur_us;
    if (a.ts_us != b.ts_us || a.is_start != b.is_start) {
      return a.ts_us != b.ts_us ? a.ts_us < b.ts_us : b.is_start;
    }
    if (a_dur != b_dur) {
      return a.is_start ? a_dur > b_dur : a_dur < b_dur;
    }
    return a.is_start ? a.row < b.row : a.row > b.row;
  });
  return marks;
}

// Walks the events of one thread.
class StackWalk {
 public:
  explicit StackWalk(CriticalBuild& build) : build_(build) {}

  void Walk(const std::vector<Mark>& marks);

 private:
  void Enter(HtaEventRow row, HtaEventRow parent);
  void Exit(HtaEventRow row, HtaEventRow parent);
  void Link(CriticalNodeId to, CriticalKind kind, bool is_free);
  bool SharesLock(CriticalNodeId from, CriticalNodeId to) const;

  CriticalBuild& build_;
  CriticalNodeId last_ = kNoCriticalNode;
  HtaEventRow last_parent_ = kNoHtaEvent;
  int64_t depth_ = 0;
};

// If an event ends while another one is the innermost, that other one is closed in its place,
// because HTA's tree, and this walk, treat events as nested.
void StackWalk::Walk(const std::vector<Mark>& marks) {
  std::vector<HtaEventRow> open;
  for (const Mark& mark : marks) {
    if (mark.is_start) {
      Enter(mark.row, open.empty() ? kNoHtaEvent : open.back());
      open.push_back(mark.row);
    } else if (!open.empty()) {
      const HtaEventRow row = open.back();
      open.pop_back();
      Exit(row, open.empty() ? kNoHtaEvent : open.back());
    }
  }
}

// Calls that hold the lock are tied to each other already.
bool StackWalk::SharesLock(CriticalNodeId from, CriticalNodeId to) const {
  return build_.IsLock(from) && build_.IsLock(to) &&
         (build_.graph.nodes()[from].is_start || !build_.graph.nodes()[to].is_start);
}

void StackWalk::Link(CriticalNodeId to, CriticalKind kind, bool is_free) {
  if (last_ == kNoCriticalNode || SharesLock(last_, to)) {
    return;
  }
  HtaCriticalGraph& graph = build_.graph;
  const size_t edge = graph.Add(last_, to, kind, is_free);
  if (kind != CriticalKind::kOperator || edge == HtaCriticalGraph::kNoEdge) {
    return;
  }
  const CriticalNode& from_node = graph.nodes()[last_];
  const CriticalNode& to_node = graph.nodes()[to];
  const HtaEventRow between = to_node.is_start ? last_parent_ : to_node.event;
  graph.Attribute(edge, from_node.is_start ? from_node.event : between);
}

void StackWalk::Enter(HtaEventRow row, HtaEventRow parent) {
  if (!build_.HasNodes(row)) {
    return;
  }
  Link(build_.start_of[row], depth_ == 0 ? CriticalKind::kDependency : CriticalKind::kOperator,
       false);
  last_ = build_.start_of[row];
  last_parent_ = parent;
  ++depth_;
}

void StackWalk::Exit(HtaEventRow row, HtaEventRow parent) {
  if (!build_.HasNodes(row)) {
    return;
  }
  Link(build_.end_of[row], CriticalKind::kOperator, HtaIsBlockingCall(build_.events.NameOf(row)));
  last_ = build_.end_of[row];
  last_parent_ = parent;
  --depth_;
}

}  // namespace

void AddStackEdges(CriticalBuild& build) {
  const std::vector<ThreadRow> rows = ThreadRows(build);
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin;
    bool has_stream = false;
    for (;
         end < rows.size() && rows[end].pid == rows[begin].pid && rows[end].tid == rows[begin].tid;
         ++end) {
      has_stream |= build.events[rows[end].row].stream >= 0;
    }
    if (!has_stream) {
      StackWalk(build).Walk(MarksOf(build.events, rows.data() + begin, rows.data() + end));
    }
    begin = end;
  }
}

// Kernels, copies and waits: work that starts after its launch, after the work before it on its
// stream, or after an event of another stream; and calls of the host that end only after device
// work.

namespace {

// Sorts rows by start; equal times stay in the given order.
void SortByStart(const HtaEvents& events, std::vector<HtaEventRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](HtaEventRow a, HtaEventRow b) { return events[a].ts_us < events[b].ts_us; });
}

// Launches whose work is known, with the stream of that work, by start.
std::vector<HtaEventRow> Launches(const HtaEvents& events) {
  std::vector<HtaEventRow> launches;
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    if (events.IsLaunch(row) && events[events[row].partner].stream != -1) {
      launches.push_back(row);
    }
  }
  SortByStart(events, launches);
  return launches;
}

const HtaEvent& WorkOf(const HtaEvents& events, HtaEventRow launch) {
  return events[events[launch].partner];
}

// A device and one of its streams.
using StreamKey = std::pair<int64_t, int64_t>;

// The stream of each event that something waits for, by the correlation number of its record. HTA
// treats several streams as an error.
HashMap<int64_t, StreamKey> StreamsOfRecords(const HtaEvents& events) {
  HashMap<int64_t, StreamKey> streams;
  const Trace& trace = events.trace();
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    if (!events.IsSync(row)) {
      continue;
    }
    const uint32_t detail = trace.device().detail[events[row].device.value];
    if (detail != kNoDetail && trace.syncs().wait_on_stream[detail] > -1) {
      streams.try_emplace(trace.syncs().wait_on_record_correlation[detail], events[row].pid,
                          trace.syncs().wait_on_stream[detail]);
    }
  }
  return streams;
}

// The last of `launches`, sorted by start, that starts at `ts_us` or before.
HtaEventRow LastUpTo(const HtaEvents& events, const std::vector<HtaEventRow>& launches,
                     int64_t ts_us) {
  const auto after = std::partition_point(launches.begin(), launches.end(), [&](HtaEventRow row) {
    return events[row].ts_us <= ts_us;
  });
  return after == launches.begin() ? kNoHtaEvent : *(after - 1);
}

HtaEventRow FirstAfter(const HtaEvents& events, const std::vector<HtaEventRow>& launches,
                       int64_t ts_us) {
  const auto after = std::partition_point(launches.begin(), launches.end(), [&](HtaEventRow row) {
    return events[row].ts_us <= ts_us;
  });
  return after == launches.end() ? kNoHtaEvent : *after;
}

}  // namespace

std::vector<int64_t> QueueLengths(const HtaEvents& events) {
  struct Change {
    HtaEventRow row;
    int64_t by;
  };
  HashMap<int64_t, HtaEventRow> launch_of;  // by correlation number
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    if (events.IsLaunch(row)) {
      launch_of[events[row].correlation] = row;
    }
  }
  std::map<int64_t, std::vector<Change>> changes;  // by stream
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    const auto launch = launch_of.find(events[row].correlation);
    if (events[row].stream != -1 && launch != launch_of.end()) {
      changes[events[row].stream].push_back({launch->second, 1});
      changes[events[row].stream].push_back({row, -1});
    }
  }
  std::vector<int64_t> lengths(events.size(), kMissing);
  for (auto& [stream, of_stream] : changes) {
    std::stable_sort(of_stream.begin(), of_stream.end(), [&](const Change& a, const Change& b) {
      return std::pair(events[a.row].ts_us, -a.by) < std::pair(events[b.row].ts_us, -b.by);
    });
    int64_t length = 0;
    for (const Change& change : of_stream) {
      lengths[change.row] = length += change.by;
    }
  }
  return lengths;
}

HashMap<int64_t, HtaEventRow> LaunchesBeforeRecords(const HtaEvents& events) {
  std::map<StreamKey, std::vector<HtaEventRow>> launches;
  for (const HtaEventRow launch : Launches(events)) {
    const HtaEvent& work = WorkOf(events, launch);
    launches[{work.pid, work.stream}].push_back(launch);
  }
  const HashMap<int64_t, StreamKey> streams = StreamsOfRecords(events);
  HashMap<int64_t, HtaEventRow> before;
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    const auto stream = streams.find(events[row].correlation);
    if (stream == streams.end() || events.NameOf(row) != "cudaEventRecord") {
      continue;
    }
    const auto found = launches.find(stream->second);
    if (found != launches.end()) {
      const HtaEventRow launch = LastUpTo(events, found->second, events[row].ts_us);
      if (launch != kNoHtaEvent) {
        before[events[row].correlation] = launch;
      }
    }
  }
  return before;
}

HashMap<HtaEventRow, HtaEventRow> LaunchesAfterWaits(const HtaEvents& events) {
  using Key = std::tuple<int64_t, int64_t, int64_t>;  // pid, tid, stream
  std::map<Key, std::vector<HtaEventRow>> launches;
  for (const HtaEventRow launch : Launches(events)) {
    launches[{events[launch].pid, events[launch].tid, WorkOf(events, launch).stream}].push_back(
        launch);
  }
  HashMap<HtaEventRow, HtaEventRow> after;
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    const HtaEvent& event = events[row];
    if (events.NameOf(row) != "cudaStreamWaitEvent" || !events.HasPartner(row)) {
      continue;
    }
    const auto found = launches.find({event.pid, event.tid, events[event.partner].stream});
    after[row] =
        found == launches.end() ? kNoHtaEvent : FirstAfter(events, found->second, event.ts_us);
  }
  return after;
}

namespace {

// If two kernels of a stream are further apart than this, the second one did not wait for the
// first.
constexpr int64_t kLongestDelayUs = 1500;

// Waits for the whole device have an edge for every stream; damaged files may name any number.
constexpr size_t kMostDeviceWaits = size_t{1} << 20;

class DeviceEdges {
 public:
  DeviceEdges(CriticalBuild& build, bool free_launches)
      : build_(build),
        events_(build.events),
        free_launches_(free_launches),
        queue_(QueueLengths(events_)),
        before_record_(LaunchesBeforeRecords(events_)),
        after_wait_(LaunchesAfterWaits(events_)) {}

  // False if there are too many waits for whole devices.
  bool AddAll();

 private:
  // A stream with the end of its last work so far; in the order in which streams appear.
  struct StreamEnd {
    int64_t stream;
    CriticalNodeId end;
  };

  std::vector<HtaEventRow> RowsInOrder() const;
  void AddSync(HtaEventRow row);
  HtaEventRow WorkBeforeRecord(HtaEventRow sync) const;
  void HoldUp(HtaEventRow wait, HtaEventRow source);
  void LinkToCall(CriticalNodeId work_end, HtaEventRow sync);
  void AddWork(HtaEventRow row);
  CriticalNodeId AwaitEvent(HtaEventRow row);
  bool StartsWithLaunch(HtaEventRow row, CriticalNodeId last, CriticalNodeId awaited) const;
  bool FollowsWork(HtaEventRow row, CriticalNodeId last, CriticalNodeId awaited) const;
  void AddLaunch(HtaEventRow row, bool is_free);
  StreamEnd* FindStream(int64_t stream);
  int64_t TimeOf(CriticalNodeId node) const { return build_.graph.nodes()[node].ts_us; }

  CriticalBuild& build_;
  const HtaEvents& events_;
  bool free_launches_;
  std::vector<int64_t> queue_;
  HashMap<int64_t, HtaEventRow> before_record_;
  HashMap<HtaEventRow, HtaEventRow> after_wait_;
  std::vector<StreamEnd> last_;
  size_t device_waits_ = 0;                    // edges of waits for whole devices
  HashMap<int64_t, size_t> stream_at_;         // index into last_
  HashMap<HtaEventRow, HtaEventRow> held_up_;  // work -> the work it waits for
};

// Work by start, waits by end: work may run inside a wait for it.
std::vector<HtaEventRow> DeviceEdges::RowsInOrder() const {
  std::vector<HtaEventRow> rows;
  for (const HtaEventRow row : build_.window) {
    const std::string_view name = events_.NameOf(row);
    if (events_[row].correlation >= 0 &&
        (events_[row].stream != -1 || name == "Event Sync" || name == "Context Sync")) {
      rows.push_back(row);
    }
  }
  const auto key = [&](HtaEventRow row) {
    return events_.IsSync(row) ? events_[row].end_us() : events_[row].ts_us;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](HtaEventRow a, HtaEventRow b) { return key(a) < key(b); });
  return rows;
}

bool DeviceEdges::AddAll() {
  for (const HtaEventRow row : RowsInOrder()) {
    if (device_waits_ > kMostDeviceWaits) {
      return false;
    }
    if (events_.IsSync(row)) {
      AddSync(row);
    } else if (build_.HasNodes(row)) {
      AddWork(row);
    }
  }
  return true;
}

DeviceEdges::StreamEnd* DeviceEdges::FindStream(int64_t stream) {
  const auto found = stream_at_.find(stream);
  return found == stream_at_.end() ? nullptr : &last_[found->second];
}

// ---- Waits ----

// The work of the last launch before the record of the event that is waited for.
HtaEventRow DeviceEdges::WorkBeforeRecord(HtaEventRow sync) const {
  const Trace& trace = events_.trace();
  const uint32_t detail = trace.device().detail[events_[sync].device.value];
  const auto found = detail == kNoDetail
                         ? before_record_.end()
                         : before_record_.find(trace.syncs().wait_on_record_correlation[detail]);
  return found == before_record_.end() ? kNoHtaEvent : events_[found->second].partner;
}

void DeviceEdges::AddSync(HtaEventRow row) {
  const std::string_view name = events_.NameOf(row);
  if (name == "Stream Wait Event" || name == "Event Sync") {
    const HtaEventRow source = WorkBeforeRecord(row);
    if (source == kNoHtaEvent) {
      return;
    }
    if (name == "Stream Wait Event") {
      HoldUp(row, source);
    } else {
      LinkToCall(build_.end_of[source], row);
    }
    return;
  }
  if (name == "Context Sync") {
    for (const StreamEnd& stream : last_) {
      LinkToCall(stream.end, row);
    }
    device_waits_ += last_.size();
  } else if (const StreamEnd* stream = FindStream(events_[row].stream);
             name == "Stream Sync" && stream != nullptr) {
    LinkToCall(stream->end, row);
  }
}

// The work of the next launch after the call waits for `source`; of several waits the last one
// counts.
void DeviceEdges::HoldUp(HtaEventRow wait, HtaEventRow source) {
  const auto next = after_wait_.find(events_[wait].partner);
  if (next != after_wait_.end() && next->second != kNoHtaEvent) {
    held_up_[events_[next->second].partner] = source;
  }
}

// The call that waits on the host ends after the work. A wait whose call is unknown is treated as
// the first event of the file, as in HTA.
void DeviceEdges::LinkToCall(CriticalNodeId work_end, HtaEventRow sync) {
  HtaEventRow call = events_[sync].partner;
  if (call == kNoHtaEvent && events_.size() > 0 && events_[0].position == 0) {
    call = 0;
  }
  if (work_end != kNoCriticalNode && call != kNoHtaEvent &&
      build_.end_of[call] != kNoCriticalNode) {
    build_.graph.Add(work_end, build_.end_of[call], CriticalKind::kSync);
  }
}

// ---- Work ----

void DeviceEdges::AddWork(HtaEventRow row) {
  HtaCriticalGraph& graph = build_.graph;
  const CriticalNodeId start = build_.start_of[row];
  const CriticalNodeId end = build_.end_of[row];
  graph.Attribute(graph.Add(start, end, CriticalKind::kOperator), row);
  const CriticalNodeId awaited = AwaitEvent(row);
  StreamEnd* stream = FindStream(events_[row].stream);
  const CriticalNodeId last = stream == nullptr ? kNoCriticalNode : stream->end;
  const bool by_launch = StartsWithLaunch(row, last, awaited);
  if (by_launch) {
    AddLaunch(row, false);
  } else if (FollowsWork(row, last, awaited)) {
    graph.Attribute(graph.Add(last, start, CriticalKind::kKernelKernelDelay),
                    graph.nodes()[last].event);
  }
  if (free_launches_ && !by_launch) {
    AddLaunch(row, true);
  }
  if (stream == nullptr) {
    stream_at_[events_[row].stream] = last_.size();
    last_.push_back({events_[row].stream, end});
  } else {
    stream->end = end;
  }
}

// Ties the work to what it was made to wait for. Returns the end of that, if there is one.
CriticalNodeId DeviceEdges::AwaitEvent(HtaEventRow row) {
  const auto found = held_up_.find(row);
  if (found == held_up_.end()) {
    return kNoCriticalNode;
  }
  const CriticalNodeId awaited = build_.end_of[found->second];
  held_up_.erase(found);
  if (awaited != kNoCriticalNode) {
    build_.graph.Add(awaited, build_.start_of[row], CriticalKind::kSync);
  }
  return awaited;
}

// Whether the queue was empty at the launch, and nothing else kept the work waiting.
bool DeviceEdges::StartsWithLaunch(HtaEventRow row, CriticalNodeId last,
                                   CriticalNodeId awaited) const {
  const HtaEventRow launch = events_[row].partner;
  if (launch == kNoHtaEvent || queue_[launch] != 1 || queue_[row] != 0) {
    return false;
  }
  const int64_t launch_us = events_[launch].ts_us;
  return (last == kNoCriticalNode || TimeOf(last) < launch_us) &&
         (awaited == kNoCriticalNode || TimeOf(awaited) < launch_us);
}

bool DeviceEdges::FollowsWork(HtaEventRow row, CriticalNodeId last, CriticalNodeId awaited) const {
  return last != kNoCriticalNode && events_[row].ts_us - TimeOf(last) < kLongestDelayUs &&
         (awaited == kNoCriticalNode || TimeOf(awaited) < TimeOf(last));
}

void DeviceEdges::AddLaunch(HtaEventRow row, bool is_free) {
  const HtaEventRow launch = events_[row].partner;
  if (launch != kNoHtaEvent && build_.HasNodes(launch)) {
    build_.graph.Add(build_.start_of[launch], build_.start_of[row], CriticalKind::kLaunchDelay,
                     is_free);
  }
}

}  // namespace

Result<void> AddDeviceEdges(CriticalBuild& build, bool free_launches) {
  if (!DeviceEdges(build, free_launches).AddAll()) {
    return Error{ErrorCode::kMissingData, "too many waits for whole devices with their streams",
                 "look at less of it, with `annotation` and `instance`",
                 build.events.trace().meta().file};
  }
  return {};
}

// Calls that hold the lock of the CUDA runtime. For calls that overlap, HTA assumes that they held
// it in the order in which they end.

namespace {

bool HoldsLock(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

CriticalBuild::CriticalBuild(const HtaEvents& all, std::vector<HtaEventRow> rows,
                             std::string_view data_load)
    : events(all),
      window(std::move(rows)),
      graph(CriticalNodes(events, window, data_load)),
      start_of(events.size(), kNoCriticalNode),
      end_of(events.size(), kNoCriticalNode),
      is_lock(events.trace().strings().size(), 0) {
  for (CriticalNodeId id = 0; id < graph.nodes().size(); ++id) {
    const CriticalNode& node = graph.nodes()[id];
    (node.is_start ? start_of : end_of)[node.event] = id;
  }
  for (uint32_t name = 0; name < is_lock.size(); ++name) {
    is_lock[name] = HoldsLock(events.trace().Text(StringId{name})) ? 1 : 0;
  }
}

// Every call that is open when another one ends waits for it, or is that call; the call that ends
// next waits for the one that ended before.
void AddLockEdges(CriticalBuild& build) {
  HtaCriticalGraph& graph = build.graph;
  std::vector<CriticalNodeId> open;
  CriticalNodeId last_end = kNoCriticalNode;
  for (CriticalNodeId id = 0; id < graph.nodes().size(); ++id) {
    if (!build.IsLock(id)) {
      continue;
    }
    const CriticalNode& node = graph.nodes()[id];
    if (node.is_start) {
      open.push_back(id);
      last_end = kNoCriticalNode;
      continue;
    }
    for (; !open.empty(); open.pop_back()) {
      const HtaEventRow opened = graph.nodes()[open.back()].event;
      const bool is_own = opened == node.event;
      const size_t edge =
          graph.Add(open.back(), id, is_own ? CriticalKind::kOperator : CriticalKind::kDependency);
      if (is_own) {
        graph.Attribute(edge, opened);
      }
    }
    if (last_end != kNoCriticalNode) {
      graph.Add(last_end, id, CriticalKind::kDependency);
    }
    last_end = id;
  }
}

}  // namespace borescope::internal
