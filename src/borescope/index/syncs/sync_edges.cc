#include "borescope/index/syncs/sync_edges.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/text/text.h"
#include "borescope/index/id_map.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

namespace {

struct Rule {
  std::string_view part;
  BlockingCall kind;
};

// The first row whose part the name contains counts.
constexpr Rule kRules[] = {
    {"EventSynchronize", BlockingCall::kEvent},
    {"EventHostSynchronize", BlockingCall::kEvent},
    {"StreamSynchronize", BlockingCall::kStream},
    {"CommandQueueSynchronize", BlockingCall::kStream},
    {"CommandListHostSynchronize", BlockingCall::kStream},
    {"DeviceSynchronize", BlockingCall::kDevice},
    {"CtxSynchronize", BlockingCall::kDevice},
    {"ThreadSynchronize", BlockingCall::kDevice},
    {"SynchronizeEvent", BlockingCall::kEvent},
    {"SynchronizeStream", BlockingCall::kStream},
    {"Synchronize", BlockingCall::kDevice},
};

}  // namespace

BlockingCall ClassifyBlockingCall(std::string_view name) {
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                        [&](const Rule& row) { return Contains(name, row.part); });
  if (rule != std::end(kRules)) {
    return rule->kind;
  }
  if (!Contains(name, "Memcpy")) {
    return BlockingCall::kNone;
  }
  return Contains(name, "Async") ? BlockingCall::kAsyncCopy : BlockingCall::kCopy;
}

bool IsEventRecordName(std::string_view name) { return Contains(name, "EventRecord"); }

bool IsQueryName(std::string_view name) {
  return Contains(name, "EventQuery") || Contains(name, "StreamQuery");
}

// The work of every device stream in the order in which the host issued it. A stream is a device
// track. Work is issued when its launch begins, or, if the launch was not recorded, when it begins
// itself. All queries take O(log work of the stream).
class StreamOrder {
 public:
  // O(rows log rows).
  StreamOrder(const Trace& trace, const Correlation& correlation);

  // The streams with work, in the order of their numbers.
  const std::vector<TrackId>& streams() const { return streams_; }
  // The stream with that number; invalid if it has no work. `process` as in Tracks.
  TrackId Find(int64_t device, int64_t process, int64_t stream) const;

  // Of the work issued to the stream before `ts_ns` the item that ends last, the later one of
  // equals: when it has ended, all of that work has. Invalid if none was issued.
  DeviceId LastBefore(TrackId stream, int64_t ts_ns) const;
  // The last before `ts_ns` that had ended by `end_ns` together with all work before it.
  DeviceId LastEndedBefore(TrackId stream, int64_t ts_ns, int64_t end_ns) const;
  // The first work issued at `ts_ns` or later; invalid if there is none.
  DeviceId FirstFrom(TrackId stream, int64_t ts_ns) const;
  int64_t IssueTime(DeviceId work) const;

 private:
  struct Slice {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  struct Number {
    int64_t device;
    int64_t process;
    int64_t stream;
    TrackId track;

    auto key() const { return std::tie(device, process, stream); }
  };

  void SortTrack(uint32_t track);
  // How many work items of the slice were issued before `ts_ns`.
  uint32_t IssuedBefore(Slice slice, int64_t ts_ns) const;

  const Trace& trace_;
  const Correlation& correlation_;
  std::vector<TrackId> streams_;
  std::vector<Number> numbers_;  // sorted
  std::vector<Slice> slices_;    // per track
  // Per work item, stream after stream, in the order of issue.
  std::vector<int64_t> issue_ns_;
  std::vector<DeviceId> work_;
  std::vector<DeviceId> last_;  // the last to end of the work of the stream up to this
};

StreamOrder::StreamOrder(const Trace& trace, const Correlation& correlation)
    : trace_(trace), correlation_(correlation), slices_(trace.tracks().size()) {
  const Tracks& tracks = trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice) {
      SortTrack(track);
    }
  }
  for (uint32_t track = 0; track < slices_.size(); ++track) {
    if (slices_[track].begin != slices_[track].end) {
      numbers_.push_back(
          {tracks.pid[track], tracks.process[track], tracks.tid[track], TrackId{track}});
    }
  }
  std::sort(numbers_.begin(), numbers_.end(),
            [](const Number& a, const Number& b) { return a.key() < b.key(); });
  streams_.reserve(numbers_.size());
  for (const Number& number : numbers_) {
    streams_.push_back(number.track);
  }
}

int64_t StreamOrder::IssueTime(DeviceId work) const {
  const HostId launch = correlation_.launch_of[work.value];
  return launch.valid() ? trace_.host().ts_ns[launch.value] : trace_.device().ts_ns[work.value];
}

void StreamOrder::SortTrack(uint32_t track) {
  const DeviceEvents& device = trace_.device();
  const auto begin = static_cast<uint32_t>(work_.size());
  for (const uint32_t row :
       EachRow(trace_.tracks().first_row[track], trace_.tracks().end_row[track])) {
    if (IsDeviceWork(device.kind[row])) {
      work_.push_back({row});
    }
  }
  SortRuns(std::span(work_).subspan(begin),
           [&](DeviceId a, DeviceId b) { return IssueTime(a) < IssueTime(b); });
  DeviceId last;
  for (const uint32_t i : EachRow(begin, work_.size())) {
    if (!last.valid() || device.end_ns(work_[i]) >= device.end_ns(last)) {
      last = work_[i];
    }
    last_.push_back(last);
    issue_ns_.push_back(IssueTime(work_[i]));
  }
  slices_[track] = {begin, static_cast<uint32_t>(work_.size())};
}

TrackId StreamOrder::Find(int64_t device, int64_t process, int64_t stream) const {
  const Number wanted{device, process, stream, {}};
  const auto found =
      std::lower_bound(numbers_.begin(), numbers_.end(), wanted,
                       [](const Number& a, const Number& b) { return a.key() < b.key(); });
  return found != numbers_.end() && found->key() == wanted.key() ? found->track : TrackId{};
}

uint32_t StreamOrder::IssuedBefore(Slice slice, int64_t ts_ns) const {
  const auto begin = issue_ns_.begin() + slice.begin;
  return static_cast<uint32_t>(std::lower_bound(begin, issue_ns_.begin() + slice.end, ts_ns) -
                               begin);
}

DeviceId StreamOrder::LastBefore(TrackId stream, int64_t ts_ns) const {
  const Slice slice = slices_[stream.value];
  const uint32_t issued = IssuedBefore(slice, ts_ns);
  return issued == 0 ? DeviceId{} : last_[slice.begin + issued - 1];
}

DeviceId StreamOrder::LastEndedBefore(TrackId stream, int64_t ts_ns, int64_t end_ns) const {
  const Slice slice = slices_[stream.value];
  const auto begin = last_.begin() + slice.begin;
  const auto past =
      std::partition_point(begin, begin + IssuedBefore(slice, ts_ns),
                           [&](DeviceId last) { return trace_.device().end_ns(last) <= end_ns; });
  return past == begin ? DeviceId{} : *std::prev(past);
}

DeviceId StreamOrder::FirstFrom(TrackId stream, int64_t ts_ns) const {
  const Slice slice = slices_[stream.value];
  const uint32_t first = slice.begin + IssuedBefore(slice, ts_ns);
  return first == slice.end ? DeviceId{} : work_[first];
}

// The state of a thread at one of its calls.
struct ThreadState {
  TrackId last_stream;                   // of the last work it launched; invalid before
  bool last_is_copy = false;             // that was a copy
  int64_t record_ns = kMissing;          // begin of its last event record
  std::map<int64_t, int64_t> synced_ns;  // per device: begin of its last device synchronisation
};

// Common to all waits: the edges found, and how they are added.
class SyncSink {
 public:
  // `clocks` are those of the devices; work may end `drift_ns` after what waits for it.
  SyncSink(const Trace& trace, const StreamOrder& order, const DeviceClocks& clocks,
           int64_t drift_ns, SyncEdges& result);

  const Trace& trace() const { return trace_; }
  const StreamOrder& order() const { return order_; }

  void CountUnresolved() { ++result_.unresolved; }
  // Begin and end of work on the clock of the host.
  int64_t BeginOf(DeviceId work) const;
  int64_t EndOf(DeviceId work) const;
  // A time of the host on the clock of the stream.
  int64_t OnStream(TrackId stream, int64_t host_ns) const {
    return host_ns - clocks_.SkewOf(stream);
  }

  // Adds an edge unless it has no source (nothing was issued) or leads backward, which is counted.
  void Add(const SyncEdge& edge);
  // The same without counting. Gives whether there is an edge.
  bool AddIfWaited(const SyncEdge& edge);
  // The same for an event that may not have happened: it is dropped if it leads back at all.
  void AddIfForward(const SyncEdge& edge);
  // Calls that waited for work, also where the times contradict it.
  const std::vector<WaitPair>& pairs() const { return pairs_; }
  // Edges from every stream of the device to the end of the call. False if none has work.
  bool AddDevice(int64_t device, HostId call, bool inferred, ThreadState& thread);
  // Whether the stream is one the process of the call can wait for.
  bool IsOfProcess(TrackId stream, HostId call) const;
  // Whether the budget still allows a search of all streams. Bounds the work on traces with very
  // many streams and very many waits.
  bool TakeLook();

 private:
  bool IsForward(const SyncEdge& edge, int64_t drift_ns) const;
  // Remembers a call that surely waited.
  void Note(const SyncEdge& edge);

  const Trace& trace_;
  const StreamOrder& order_;
  const DeviceClocks& clocks_;
  int64_t drift_ns_;
  SyncEdges& result_;
  std::vector<WaitPair> pairs_;
  uint64_t looks_left_;
};

// Waits of cuda_sync records.
class RecordedSyncs {
 public:
  RecordedSyncs(const Trace& trace, SyncSink& sink);

  // `record`: a device row of kind kSync. `call` is invalid if it was not recorded. False if the
  // record does not tell what the call waited for, though it waited.
  bool Add(DeviceId record, HostId call, ThreadState& thread);

 private:
  struct Event {
    TrackId stream;                // on which it was recorded
    int64_t record_ns = kMissing;  // when; kMissing: unknown
  };

  Event EventOf(DeviceId record, int64_t wait_ns) const;
  bool AddEvent(DeviceId record, HostId call, const ThreadState& thread);
  bool AddStream(DeviceId record, HostId call);
  void AddStreamWait(DeviceId record, HostId call, const ThreadState& thread);
  TrackId StreamOf(DeviceId record, int64_t stream) const;
  // Whether a call lasts so long that it has waited for something.
  bool HasWaited(HostId call) const { return trace_.host().dur_ns[call.value] > kNoWaitNs; }

  const Trace& trace_;
  SyncSink& sink_;
  IdMap64 records_;  // host row of the cudaEventRecord by its correlation
};

// Adds the edges of a call without a record. `own`: the device rows it started.
void InferSync(HostId call, BlockingCall kind, std::span<const DeviceId> own, ThreadState& thread,
               SyncSink& sink);

namespace {

// Classification of runtime calls by name, per string: each is examined once.
class CallNames {
 public:
  explicit CallNames(const Trace& trace) : trace_(trace), meanings_(trace.strings().size()) {}

  struct Meaning {
    bool is_known = false;
    bool is_record = false;
    BlockingCall blocking = BlockingCall::kNone;
  };
  Meaning Of(HostId call) {
    Meaning& meaning = meanings_[trace_.host().name[call.value].value];
    if (!meaning.is_known) {
      const std::string_view name = trace_.Name(call);
      meaning = {true, IsEventRecordName(name), ClassifyBlockingCall(name)};
    }
    return meaning;
  }

 private:
  const Trace& trace_;
  std::vector<Meaning> meanings_;
};

std::span<const DeviceId> StartedBy(const Trace& trace, const Correlation& correlation,
                                    HostId call) {
  const uint32_t detail = trace.host().detail[call.value];
  return detail == kNoDetail ? std::span<const DeviceId>() : correlation.DevicesOf(detail);
}

void Remember(const Trace& trace, std::span<const DeviceId> started, ThreadState& thread) {
  for (const DeviceId id : started) {
    if (IsDeviceWork(trace.device().kind[id.value])) {
      thread.last_stream = trace.device().track[id.value];
      thread.last_is_copy = trace.device().kind[id.value] == DeviceKind::kMemcpy;
      return;
    }
  }
}

// All calls, thread by thread and by time.
void VisitCalls(const Trace& trace, const Correlation& correlation, RecordedSyncs& recorded,
                SyncSink& sink) {
  const HostEvents& host = trace.host();
  CallNames names(trace);
  ThreadState thread;
  for (const uint32_t row : EachRow(host.size())) {
    if (row == 0 || host.track[row] != host.track[row - 1]) {
      thread = {};
    }
    if (host.kind[row] != HostKind::kRuntime) {
      continue;
    }
    const HostId call{row};
    const CallNames::Meaning meaning = names.Of(call);
    const std::span<const DeviceId> started = StartedBy(trace, correlation, call);
    bool has_record = false;
    bool is_resolved = false;
    for (const DeviceId id : started) {
      if (trace.device().kind[id.value] == DeviceKind::kSync) {
        is_resolved |= recorded.Add(id, call, thread);
        has_record = true;
      }
    }
    if (!is_resolved) {
      InferSync(call, meaning.blocking, started, thread, sink);
    }
    if (has_record && !is_resolved && meaning.blocking == BlockingCall::kNone) {
      sink.CountUnresolved();
    }
    if (meaning.is_record) {
      thread.record_ns = host.ts_ns[row];
    }
    Remember(trace, started, thread);
  }
}

void VisitOrphans(const Trace& trace, const Correlation& correlation, RecordedSyncs& recorded,
                  SyncEdges& result) {
  ThreadState nobody;
  for (const uint32_t row : EachRow(trace.device().size())) {
    if (trace.device().kind[row] != DeviceKind::kSync) {
      continue;
    }
    result.has_records = true;
    if (!correlation.launch_of[row].valid()) {
      recorded.Add(DeviceId{row}, {}, nobody);
    }
  }
}

auto Key(const SyncEdge& edge) {
  return std::tuple(edge.call, edge.source, edge.target, edge.kind, edge.inferred);
}

void SortEdges(std::vector<SyncEdge>& edges) {
  std::sort(edges.begin(), edges.end(),
            [](const SyncEdge& a, const SyncEdge& b) { return Key(a) < Key(b); });
  const auto same = [](const SyncEdge& a, const SyncEdge& b) {
    return a.call == b.call && a.source == b.source && a.target == b.target;
  };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
}

}  // namespace

void CountUnresolvedWaits(const Trace& trace, const Correlation& correlation,
                          Diagnostics& diagnostics) {
  if (trace.syncs().size() == 0) {
    return;
  }
  const Tracks& tracks = trace.tracks();
  const DeviceEvents& device = trace.device();
  using Stream = std::tuple<int64_t, int64_t, int64_t>;
  std::set<Stream> streams;                       // device, process, number: those with work
  std::set<std::pair<int64_t, int64_t>> devices;  // device, process
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const auto begin = device.kind.begin() + tracks.first_row[track];
    const auto end = device.kind.begin() + tracks.end_row[track];
    if (tracks.kind[track] == TrackKind::kDevice && std::any_of(begin, end, IsDeviceWork)) {
      streams.emplace(tracks.pid[track], tracks.process[track], tracks.tid[track]);
      devices.emplace(tracks.pid[track], tracks.process[track]);
    }
  }
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] != DeviceKind::kSync || device.detail[row] == kNoDetail) {
      continue;
    }
    const HostId call = correlation.launch_of[row];
    const int64_t waited_ns = call.valid() ? trace.host().dur_ns[call.value] : device.dur_ns[row];
    const std::string_view name = trace.Name(DeviceId{row});
    if (waited_ns <= kNoWaitNs || (name != "Stream Sync" && name != "Context Sync")) {
      continue;
    }
    const uint32_t track = device.track[row].value;
    const bool has_work = name == "Context Sync"
                              ? devices.contains({tracks.pid[track], tracks.process[track]})
                              : streams.contains({tracks.pid[track], tracks.process[track],
                                                  trace.syncs().stream[device.detail[row]]});
    if (!has_work) {
      diagnostics.Count(Diag::kUnresolvedWait, Diagnostics::kNoByte, trace.Name(DeviceId{row}));
    }
  }
}

std::string_view SyncKindName(SyncKind kind) {
  constexpr std::string_view kNames[] = {"event",  "event_query", "stream",
                                         "device", "copy",        "stream_wait"};
  return kNames[static_cast<size_t>(kind)];
}

bool HasNoWaits(const Trace& trace) {
  const ColumnData<DeviceKind>& kinds = trace.device().kind;
  if (std::none_of(kinds.begin(), kinds.end(), IsDeviceWork) ||
      std::find(kinds.begin(), kinds.end(), DeviceKind::kSync) != kinds.end()) {
    return false;
  }
  CallNames names(trace);
  bool has_calls = false;
  for (const uint32_t row : EachRow(trace.host().size())) {
    if (trace.host().kind[row] == HostKind::kRuntime) {
      has_calls = true;
      if (AlwaysBlocks(names.Of(HostId{row}).blocking)) {
        return false;
      }
    }
  }
  return has_calls;
}

namespace {

struct Found {
  SyncEdges syncs;
  std::vector<WaitPair> pairs;
};

Found Find(const Trace& trace, const Correlation& correlation, const StreamOrder& order,
           const DeviceClocks& clocks, int64_t drift_ns) {
  Found found;
  SyncSink sink(trace, order, clocks, drift_ns, found.syncs);
  RecordedSyncs recorded(trace, sink);
  VisitCalls(trace, correlation, recorded, sink);
  VisitOrphans(trace, correlation, recorded, found.syncs);
  SortEdges(found.syncs.edges);
  found.pairs = sink.pairs();
  return found;
}

// Whether the waits are the same with these clocks as with those of the recording.
bool AreAsRecorded(const Trace& trace, const Found& found, const DeviceClocks& clocks) {
  const auto is_backward = [&](const WaitPair& pair) {
    return trace.device().end_ns(pair.work) > trace.host().end_ns(pair.call);
  };
  return std::none_of(clocks.clocks.begin(), clocks.clocks.end(),
                      [](const DeviceClock& clock) { return clock.skew_ns != 0; }) &&
         std::none_of(found.pairs.begin(), found.pairs.end(), is_backward);
}

}  // namespace

SyncEdges FindSyncEdges(const Trace& trace, const Correlation& correlation) {
  return Find(trace, correlation, StreamOrder(trace, correlation), {}, 0).syncs;
}

ClockedSyncs FindClockedSyncs(const Trace& trace, const Correlation& correlation) {
  const StreamOrder order(trace, correlation);
  Found found = Find(trace, correlation, order, {}, 0);
  ClockedSyncs result{EstimateClocks(trace, correlation, found.pairs), {}};
  result.syncs = AreAsRecorded(trace, found, result.clocks)
                     ? std::move(found.syncs)
                     : Find(trace, correlation, order, result.clocks, kMostDriftNs).syncs;
  return result;
}

ClockedSyncs FindSyncsAndClocks(const Trace& trace, const Correlation& correlation) {
  Found found = Find(trace, correlation, StreamOrder(trace, correlation), {}, 0);
  return {EstimateClocks(trace, correlation, found.pairs), std::move(found.syncs)};
}

// FindSyncEdges has two halves: waits inferred from the names of calls, and waits as recorded.
// First those inferred, from names and from what ended before the calls returned.
namespace {

class Inference {
 public:
  Inference(HostId call, SyncSink& sink)
      : trace_(sink.trace()),
        sink_(sink),
        call_(call),
        begin_ns_(trace_.host().ts_ns[call.value]),
        end_ns_(trace_.host().end_ns(call)) {}

  void Copy(std::span<const DeviceId> own, bool is_async) {
    DeviceId last;
    for (const DeviceId id : own) {
      if (trace_.device().kind[id.value] == DeviceKind::kMemcpy && (!is_async || IsPageable(id)) &&
          (!last.valid() || trace_.device().end_ns(id) > trace_.device().end_ns(last))) {
        last = id;
      }
    }
    const SyncEdge edge = Edge(SyncKind::kCopy, last);
    // A copy to the device may continue after the call, which has buffered it.
    if (last.valid() && IsToHost(last)) {
      sink_.AddIfWaited(edge);
    } else {
      sink_.AddIfForward(edge);
    }
  }

  void Device(ThreadState& thread) {
    const TrackId stream = thread.last_stream.valid() ? thread.last_stream : AnyStream();
    if (stream.valid()) {
      sink_.AddDevice(trace_.tracks().pid[stream.value], call_, true, thread);
    }
  }

  void Stream(const ThreadState& thread) {
    DeviceId source;
    if (thread.last_is_copy) {
      source = sink_.order().LastBefore(thread.last_stream, begin_ns_);
    }
    if (sink_.AddIfWaited(Edge(SyncKind::kStream, source))) {
      return;
    }
    AddOrCount(Edge(SyncKind::kStream, LatestOf([&](TrackId stream) {
                      const DeviceId last = sink_.order().LastBefore(stream, begin_ns_);
                      return last.valid() && sink_.EndOf(last) <= end_ns_ ? last : DeviceId{};
                    })));
  }

  // Work that ended before the call began did not release it.
  void Event() {
    const DeviceId source = LatestOf([&](TrackId stream) {
      const DeviceId last =
          sink_.order().LastEndedBefore(stream, begin_ns_, sink_.OnStream(stream, end_ns_));
      return last.valid() && sink_.EndOf(last) >= begin_ns_ ? last : DeviceId{};
    });
    AddOrCount(Edge(SyncKind::kEvent, source));
  }

 private:
  SyncEdge Edge(SyncKind kind, DeviceId source) const { return {kind, true, source, call_, {}}; }

  void AddOrCount(const SyncEdge& edge) {
    edge.source.valid() ? sink_.AddIfForward(edge) : sink_.CountUnresolved();
  }

  bool IsToHost(DeviceId id) const {
    return ClassifyCopy(DeviceKind::kMemcpy, trace_.Name(id)) == CopyKind::kDeviceToHost;
  }

  bool IsPageable(DeviceId id) const {
    return trace_.Name(id).find("Pageable") != std::string_view::npos && IsToHost(id);
  }

  TrackId AnyStream() const {
    for (const TrackId stream : sink_.order().streams()) {
      if (sink_.IsOfProcess(stream, call_)) {
        return stream;
      }
    }
    return {};
  }

  // Of the results of `find` for the streams of the process the one that ends last.
  template <class Find>
  DeviceId LatestOf(const Find& find) {
    DeviceId latest;
    for (const TrackId stream : sink_.order().streams()) {
      if (!sink_.IsOfProcess(stream, call_)) {
        continue;
      }
      if (!sink_.TakeLook()) {
        return {};
      }
      const DeviceId found = find(stream);
      if (found.valid() && (!latest.valid() || sink_.EndOf(found) > sink_.EndOf(latest))) {
        latest = found;
      }
    }
    return latest;
  }

  const Trace& trace_;
  SyncSink& sink_;
  HostId call_;
  int64_t begin_ns_;
  int64_t end_ns_;
};

}  // namespace

void InferSync(HostId call, BlockingCall kind, std::span<const DeviceId> own, ThreadState& thread,
               SyncSink& sink) {
  Inference inference(call, sink);
  switch (kind) {
    case BlockingCall::kNone:
      return;
    case BlockingCall::kCopy:
    case BlockingCall::kAsyncCopy:
      return inference.Copy(own, kind == BlockingCall::kAsyncCopy);
    case BlockingCall::kDevice:
      return inference.Device(thread);
    case BlockingCall::kStream:
      return inference.Stream(thread);
    case BlockingCall::kEvent:
      return inference.Event();
  }
}

// The other half: waits from cuda_sync records.
namespace {

std::vector<uint32_t> RecordCalls(const Trace& trace) {
  const HostEvents& host = trace.host();
  std::vector<uint32_t> rows;
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail &&
        IsEventRecordName(trace.Name(HostId{row}))) {
      rows.push_back(row);
    }
  }
  return rows;
}

bool HasSyncs(const Trace& trace) { return trace.syncs().size() != 0; }

IdMap64 MapRecords(const Trace& trace) {
  const std::vector<uint32_t> rows = HasSyncs(trace) ? RecordCalls(trace) : std::vector<uint32_t>();
  IdMap64 records(rows.size());
  for (const uint32_t row : rows) {
    const int64_t number = trace.runtime_calls().correlation[trace.host().detail[row]];
    if (IsCorrelation(number)) {
      records[number] = row;
    }
  }
  return records;
}

}  // namespace

RecordedSyncs::RecordedSyncs(const Trace& trace, SyncSink& sink)
    : trace_(trace), sink_(sink), records_(MapRecords(trace)) {}

TrackId RecordedSyncs::StreamOf(DeviceId record, int64_t stream) const {
  const uint32_t track = trace_.device().track[record.value].value;
  const Tracks& tracks = trace_.tracks();
  return sink_.order().Find(tracks.pid[track], tracks.process[track], stream);
}

bool RecordedSyncs::Add(DeviceId record, HostId call, ThreadState& thread) {
  const std::string_view name = trace_.Name(record);
  const bool has_detail = trace_.device().detail[record.value] != kNoDetail;
  const bool has_call = has_detail && call.valid();
  if (has_call && name == "Event Sync") {
    return AddEvent(record, call, thread);
  }
  if (has_call && name == "Stream Sync") {
    return AddStream(record, call);
  }
  if (has_call && name == "Context Sync") {
    return sink_.AddDevice(trace_.DeviceOf(record), call, false, thread) || !HasWaited(call);
  }
  if (has_detail && name == "Stream Wait Event") {
    AddStreamWait(record, call, thread);
  } else {
    sink_.CountUnresolved();
  }
  return true;
}

RecordedSyncs::Event RecordedSyncs::EventOf(DeviceId record, int64_t wait_ns) const {
  const uint32_t detail = trace_.device().detail[record.value];
  Event event{StreamOf(record, trace_.syncs().wait_on_stream[detail]), kMissing};
  const int64_t number = trace_.syncs().wait_on_record_correlation[detail];
  const uint32_t row = IsCorrelation(number) ? records_.Get(number) : IdMap64::kNone;
  // A record after the wait belongs to another use of the event.
  if (row != IdMap64::kNone && trace_.host().ts_ns[row] <= wait_ns) {
    event.record_ns = trace_.host().ts_ns[row];
  }
  return event;
}

bool RecordedSyncs::AddEvent(DeviceId record, HostId call, const ThreadState& thread) {
  const int64_t begin_ns = trace_.host().ts_ns[call.value];
  const Event event = EventOf(record, begin_ns);
  const bool is_query = IsQueryName(trace_.Name(call));
  if (trace_.syncs().wait_on_stream[trace_.device().detail[record.value]] < 0) {
    if (is_query) {
      sink_.CountUnresolved();
    }
    return is_query;
  }
  if (!event.stream.valid()) {  // no work on that stream
    return is_query || !HasWaited(call);
  }
  SyncEdge edge{is_query ? SyncKind::kEventQuery : SyncKind::kEvent, false, {}, call, {}};
  if (event.record_ns == kMissing) {
    edge.inferred = true;
    edge.source = sink_.order().LastEndedBefore(
        event.stream, thread.record_ns == kMissing ? begin_ns : thread.record_ns,
        sink_.OnStream(event.stream, trace_.host().end_ns(call)));
  } else {
    edge.source = sink_.order().LastBefore(event.stream, event.record_ns);
  }
  is_query ? sink_.AddIfForward(edge) : sink_.Add(edge);
  return true;
}

bool RecordedSyncs::AddStream(DeviceId record, HostId call) {
  const TrackId stream =
      StreamOf(record, trace_.syncs().stream[trace_.device().detail[record.value]]);
  if (!stream.valid()) {
    return !HasWaited(call);
  }
  const DeviceId source = sink_.order().LastBefore(stream, trace_.host().ts_ns[call.value]);
  sink_.Add({SyncKind::kStream, false, source, call, {}});
  return true;
}

void RecordedSyncs::AddStreamWait(DeviceId record, HostId call, const ThreadState& thread) {
  const int64_t wait_ns =
      call.valid() ? trace_.host().ts_ns[call.value] : trace_.device().ts_ns[record.value];
  const TrackId waiting =
      StreamOf(record, trace_.syncs().stream[trace_.device().detail[record.value]]);
  const Event event = EventOf(record, wait_ns);
  if (!waiting.valid() || !event.stream.valid() || waiting == event.stream) {
    return;  // no waiting or awaited work, or already ordered by its stream
  }
  SyncEdge edge{SyncKind::kStreamWait, false, {}, call, sink_.order().FirstFrom(waiting, wait_ns)};
  if (!edge.target.valid()) {
    return;
  }
  if (event.record_ns == kMissing) {
    edge.inferred = true;
    edge.source = sink_.order().LastEndedBefore(
        event.stream, thread.record_ns == kMissing ? wait_ns : thread.record_ns,
        sink_.OnStream(event.stream, sink_.BeginOf(edge.target)));
  } else {
    edge.source = sink_.order().LastBefore(event.stream, event.record_ns);
  }
  sink_.Add(edge);
}

namespace {

// Searches of a stream for waits for all streams: enough for every known recording.
constexpr uint64_t kLooksPerRow = 64;

}  // namespace

SyncSink::SyncSink(const Trace& trace, const StreamOrder& order, const DeviceClocks& clocks,
                   int64_t drift_ns, SyncEdges& result)
    : trace_(trace),
      order_(order),
      clocks_(clocks),
      drift_ns_(drift_ns),
      result_(result),
      looks_left_(kLooksPerRow * (trace.host().size() + trace.device().size())) {}

bool SyncSink::TakeLook() {
  if (looks_left_ == 0) {
    return false;
  }
  --looks_left_;
  return true;
}

int64_t SyncSink::BeginOf(DeviceId work) const {
  return trace_.device().ts_ns[work.value] + clocks_.SkewOf(trace_.device().track[work.value]);
}

int64_t SyncSink::EndOf(DeviceId work) const {
  return trace_.device().end_ns(work) + clocks_.SkewOf(trace_.device().track[work.value]);
}

bool SyncSink::IsForward(const SyncEdge& edge, int64_t drift_ns) const {
  return edge.kind == SyncKind::kStreamWait
             ? EndOf(edge.source) <= BeginOf(edge.target)
             : EndOf(edge.source) <= trace_.host().end_ns(edge.call) + drift_ns;
}

void SyncSink::Note(const SyncEdge& edge) {
  if (edge.source.valid() && edge.kind != SyncKind::kStreamWait) {
    pairs_.push_back({edge.source, edge.call, edge.inferred});
  }
}

void SyncSink::AddIfForward(const SyncEdge& edge) {
  if (edge.source.valid() && IsForward(edge, 0)) {
    result_.edges.push_back(edge);
  }
}

bool SyncSink::AddIfWaited(const SyncEdge& edge) {
  Note(edge);
  const bool is_edge = edge.source.valid() && IsForward(edge, drift_ns_);
  if (is_edge) {
    result_.edges.push_back(edge);
  }
  return is_edge;
}

void SyncSink::Add(const SyncEdge& edge) {
  if (!AddIfWaited(edge) && edge.source.valid() && result_.backward++ == 0) {
    result_.first_backward = edge;
  }
}

bool SyncSink::IsOfProcess(TrackId stream, HostId call) const {
  const int64_t process = trace_.tracks().process[stream.value];
  return process == kMissing ||
         process == trace_.tracks().pid[trace_.host().track[call.value].value];
}

bool SyncSink::AddDevice(int64_t device, HostId call, bool inferred, ThreadState& thread) {
  const int64_t begin_ns = trace_.host().ts_ns[call.value];
  const auto [synced, is_first] = thread.synced_ns.try_emplace(device, kMissing);
  bool has_work = false;
  for (const TrackId stream : order_.streams()) {
    if (trace_.tracks().pid[stream.value] != device || !IsOfProcess(stream, call)) {
      continue;
    }
    has_work = true;
    if (!TakeLook()) {
      CountUnresolved();
      break;
    }
    const DeviceId source = order_.LastBefore(stream, begin_ns);
    if (is_first || (source.valid() && order_.IssueTime(source) >= synced->second)) {
      Add({SyncKind::kDevice, inferred, source, call, {}});
    }
  }
  synced->second = begin_ns;
  return has_work;
}

}  // namespace borescope::internal
