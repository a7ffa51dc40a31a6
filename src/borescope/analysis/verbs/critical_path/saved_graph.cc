#include "borescope/analysis/verbs/critical_path/saved_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/verbs/critical_path/saved_columns.h"
#include "borescope/index/clocks/device_clocks.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/index/steps/steps.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {

namespace {

// The columns of a trace under the names that TraceData has for them.
struct TraceColumns {
  const Tracks& tracks;
  const HostEvents& host;
  const DeviceEvents& device;
};

// Numbers the names of events again, in the order of their first appearance: arguments and names of
// anything else are left out.
class Renumbering {
 public:
  Renumbering(const Trace& trace, SavedExtras& extras)
      : trace_(trace), extras_(extras), numbers_(trace.strings().size()) {}

  std::vector<StringId> Of(std::span<const StringId> names) {
    std::vector<StringId> renumbered;
    renumbered.reserve(names.size());
    for (const StringId name : names) {
      renumbered.push_back(trace_.Text(name).empty() ? StringId{0} : Of(name));
    }
    return renumbered;
  }

 private:
  StringId Of(StringId name) {
    StringId& number = numbers_[name.value];
    if (!number.valid()) {
      const std::string_view text = trace_.Text(name);
      extras_.texts.insert(extras_.texts.end(), text.begin(), text.end());
      extras_.text_sizes.push_back(static_cast<uint32_t>(text.size()));
      number.value = static_cast<uint32_t>(extras_.text_sizes.size());
    }
    return number;
  }

  const Trace& trace_;
  SavedExtras& extras_;
  std::vector<StringId> numbers_;  // by old number; invalid: not seen yet
};

std::vector<int64_t> NumbersOf(const RankView& view, const SyncEdges& syncs) {
  const Meta& meta = view.trace.meta();
  std::vector<int64_t> numbers(static_cast<size_t>(SavedNumber::kCount), kMissing);
  const auto set = [&](SavedNumber number, int64_t value) {
    numbers[static_cast<size_t>(number)] = value;
  };
  // A rank that only the name of the file says is not 0.
  set(SavedNumber::kRank, meta.rank.value_or(view.rank == 0 ? kMissing : view.rank));
  set(SavedNumber::kWorldSize, meta.world_size.value_or(kMissing));
  set(SavedNumber::kBaseNs, meta.base_ns.value_or(kMissing));
  set(SavedNumber::kBeginNs, view.trace.begin_ns());
  set(SavedNumber::kEndNs, view.trace.end_ns());
  set(SavedNumber::kVendor, static_cast<int64_t>(meta.vendor));
  set(SavedNumber::kHasRecords, syncs.has_records ? 1 : 0);
  set(SavedNumber::kBackward, static_cast<int64_t>(syncs.backward));
  set(SavedNumber::kUnresolved, static_cast<int64_t>(syncs.unresolved));
  return numbers;
}

std::vector<int64_t> ClockNumbersOf(const DeviceClocks& clocks) {
  std::vector<int64_t> numbers;
  for (const DeviceClock& clock : clocks.clocks) {
    const int64_t of_one[kClockNumbers] = {clock.device,     clock.skew_ns,      clock.lowest_ns,
                                           clock.highest_ns, clock.launches,     clock.waits,
                                           clock.inferred,   clock.contradicting};
    numbers.insert(numbers.end(), std::begin(of_one), std::end(of_one));
  }
  return numbers;
}

SavedExtras ExtrasOf(const RankView& view, const RecordingGraph& recording) {
  SavedExtras extras;
  extras.numbers = NumbersOf(view, recording.syncs);
  extras.clocks = ClockNumbersOf(recording.clocks);
  const std::string_view format = FormatName(view.trace.meta().format);
  extras.format.assign(format.begin(), format.end());
  Renumbering names(view.trace, extras);
  extras.host_names = names.Of(std::span(view.trace.host().name).first(view.trace.host().size()));
  extras.device_names = names.Of(view.trace.device().name);
  const Tracks& tracks = view.trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    extras.track_rows.push_back(tracks.end_row[track] - tracks.first_row[track]);
  }
  for (const ThreadFacts& thread : recording.facts.threads) {
    extras.thread_tracks.push_back(thread.track);
    extras.thread_is_main.push_back(thread.is_main ? 1 : 0);
  }
  for (const SyncEdge& edge : recording.syncs.edges) {
    extras.sync_kinds.push_back(edge.kind);
    extras.sync_inferred.push_back(edge.inferred ? 1 : 0);
    extras.sync_sources.push_back(edge.source);
    extras.sync_calls.push_back(edge.call);
    extras.sync_targets.push_back(edge.target);
  }
  return extras;
}

template <class T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class Cells>
Result<void> PutColumn(const Cells& column, const PutBytes& put) {
  using T = Cells::value_type;
  static_assert(std::has_unique_object_representations_v<T>, "padding has no defined bytes");
  const auto* bytes = reinterpret_cast<const char*>(column.data());
  const size_t size = column.size() * sizeof(T);
  BS_TRY(put(BytesOf(static_cast<uint64_t>(column.size()))));
  BS_TRY(put({bytes, size}));
  return put(BytesOf(SavedChecksum(bytes, size)));
}

// Only what the recording itself has; captured rows are the last ones.
HostEvents RecordedHost(HostEvents host) {
  const size_t rows = host.size();
  ForEachColumn([&](auto& column) { column.resize(std::min(column.size(), rows)); }, host);
  host.captured = 0;
  return host;
}

}  // namespace

Result<void> SaveGraph(const RankView& view, const RecordingGraph& recording, const PutBytes& put) {
  BS_TRY(put(kSavedMagic));
  BS_TRY(put(BytesOf(kSavedVersion)));
  const SavedExtras extras = ExtrasOf(view, recording);
  std::optional<HostEvents> recorded;
  if (view.trace.host().captured != 0) recorded = RecordedHost(view.trace.host());
  const HostEvents& host = recorded.has_value() ? *recorded : view.trace.host();
  const TraceColumns trace{view.trace.tracks(), host, view.trace.device()};
  Result<void> written;
  ForEachSavedColumn(extras, trace, view.index.correlation.launch_of, recording,
                     [&](std::string_view, const auto& column) {
                       written = written.ok() ? PutColumn(column, put) : written;
                     });
  return written;
}

namespace {

// Readers let nothing begin further from 0 or be longer (ingest/time_limit.h), so that no end is
// later than twice that. Differences do not overflow, nor do sums along a path, whose edges are no
// longer than the time between their nodes.
constexpr int64_t kMostNs = int64_t{1} << 61;

// Remembers the first thing that is wrong.
class Verdict {
 public:
  explicit Verdict(const std::string& file) : file_(file) {}

  bool ok() const { return result_.ok(); }
  // Unless `holds`, reports `cause` for the cell `row` of `what`. Returns `holds`.
  bool Check(bool holds, std::string_view what, size_t row, std::string_view cause) {
    if (!holds && result_.ok()) {
      result_ = Error{ErrorCode::kCorrupt, fmt::format("{} {}: {}", what, row, cause),
                      "save the graph again", file_};
    }
    return holds;
  }
  // Calls is_right(cell) for the cells of a column until one is wrong.
  template <class Cells, class IsRight>
  void CheckEach(const Cells& column, std::string_view what, std::string_view cause,
                 const IsRight& is_right) {
    for (size_t row = 0; ok() && row < column.size(); ++row) {
      Check(is_right(column[row]), what, row, cause);
    }
  }
  Result<void> Take() { return result_; }

 private:
  const std::string& file_;
  Result<void> result_;
};

bool IsBegin(int64_t ns) { return ns >= -kMostNs && ns <= kMostNs; }
bool IsTime(int64_t ns) { return ns >= -kMostNs && ns <= 2 * kMostNs; }

// ---- The trace ----

void CheckNumbers(const std::vector<int64_t>& numbers, Verdict& verdict) {
  const auto number = [&](SavedNumber at) { return numbers[static_cast<size_t>(at)]; };
  const auto check = [&](bool holds, SavedNumber at, std::string_view cause) {
    verdict.Check(holds, "number", static_cast<size_t>(at), cause);
  };
  if (!verdict.Check(numbers.size() == static_cast<size_t>(SavedNumber::kCount), "number",
                     numbers.size(), "there must be as many as this version has")) {
    return;
  }
  const int64_t begin_ns = number(SavedNumber::kBeginNs);
  const int64_t end_ns = number(SavedNumber::kEndNs);
  const int64_t base_ns = number(SavedNumber::kBaseNs);
  check(IsTime(begin_ns), SavedNumber::kBeginNs, "no time");
  check(IsTime(end_ns), SavedNumber::kEndNs, "no time");
  check(begin_ns <= end_ns, SavedNumber::kEndNs, "before the begin");
  check(base_ns == kMissing || IsTime(base_ns), SavedNumber::kBaseNs, "no time");
  const int64_t vendor = number(SavedNumber::kVendor);
  check(vendor >= 0 && vendor <= static_cast<int64_t>(Vendor::kMeta), SavedNumber::kVendor,
        "no vendor of devices");
  check(number(SavedNumber::kBackward) >= 0, SavedNumber::kBackward, "no count");
  check(number(SavedNumber::kUnresolved) >= 0, SavedNumber::kUnresolved, "no count");
}

void CheckTexts(const SavedExtras& extras, Verdict& verdict) {
  uint64_t size = 0;
  for (const uint32_t one : extras.text_sizes) {
    size += one;
  }
  verdict.Check(size == extras.texts.size(), "text size", extras.text_sizes.size(),
                "all together are not the size of the text");
  const auto is_name = [&](StringId name) { return name.value <= extras.text_sizes.size(); };
  verdict.CheckEach(extras.host_names, "host name", "no text has that number", is_name);
  verdict.CheckEach(extras.device_names, "device name", "no text has that number", is_name);
}

// Events of one side: times that do not overflow, and columns of one length.
template <class Events>
void CheckEvents(const Events& events, std::span<const StringId> names, std::string_view side,
                 Verdict& verdict) {
  const size_t size = events.size();
  const bool is_even = events.dur_ns.size() == size && names.size() == size &&
                       events.kind.size() == size &&
                       (events.position.empty() || events.position.size() == size);
  if (!verdict.Check(is_even, side, size, "the columns of events differ in length")) {
    return;
  }
  for (size_t row = 0; verdict.ok() && row < size; ++row) {
    const int64_t dur_ns = events.dur_ns[row];
    verdict.Check(IsBegin(events.ts_ns[row]), side, row, "begins at no time");
    verdict.Check(dur_ns >= 0 && dur_ns <= kMostNs, side, row, "ends at no time");
  }
}

void CheckTracks(const SavedExtras& extras, const TraceData& trace, Verdict& verdict) {
  const Tracks& tracks = trace.tracks;
  const size_t size = tracks.size();
  if (!verdict.Check(tracks.pid.size() == size && tracks.tid.size() == size &&
                         extras.track_rows.size() == size,
                     "track", size, "the columns of tracks differ in length")) {
    return;
  }
  uint64_t rows[2] = {0, 0};
  for (size_t track = 0; verdict.ok() && track < size; ++track) {
    if (verdict.Check(tracks.kind[track] <= TrackKind::kDevice, "track", track, "no kind")) {
      rows[static_cast<size_t>(tracks.kind[track])] += extras.track_rows[track];
    }
  }
  verdict.Check(rows[0] == trace.host.size(), "host", rows[0], "not all are on tracks");
  verdict.Check(rows[1] == trace.device.size(), "device", rows[1], "not all are on tracks");
}

// ---- The graph ----

class GraphCheck {
 public:
  GraphCheck(const TraceData& trace, const RecordingGraph& recording, Verdict& verdict)
      : trace_(trace), recording_(recording), graph_(recording.graph), verdict_(verdict) {}

  void Run() {
    const bool is_even =
        graph_.event.size() == graph_.nodes() && graph_.side.size() == graph_.nodes() &&
        graph_.first_edge.size() == graph_.nodes() + 1 && graph_.nodes() > EventGraph::kEnd &&
        graph_.weight_ns.size() == graph_.edges() && graph_.kind.size() == graph_.edges();
    verdict_.Check(is_even, "node", graph_.nodes(), "the columns of the graph differ in length");
    Each(graph_.nodes(), [&](uint32_t node) { CheckNode(node); });
    CheckEdgeSlices();
    Each(graph_.nodes(), [&](uint32_t node) { CheckEdgesOf(node); });
    CheckThreads();
    CheckThreadEdges();
    CheckWork();
    CheckWaits();
  }

 private:
  // Calls check(number) for 0, 1, ... as long as nothing is wrong.
  template <class Check>
  void Each(size_t count, const Check& check) const {
    for (size_t i = 0; verdict_.ok() && i < count; ++i) {
      check(static_cast<uint32_t>(i));
    }
  }

  void CheckNode(NodeId node) {
    const NodeSide side = graph_.side[node];
    const size_t events = side == NodeSide::kHost ? trace_.host.size() : trace_.device.size();
    verdict_.Check(IsTime(graph_.ts_ns[node]), "node", node, "at no time");
    verdict_.Check(
        side <= NodeSide::kDevice && (side == NodeSide::kNone) == (node <= EventGraph::kEnd),
        "node", node, "on no side");
    verdict_.Check(side == NodeSide::kNone || graph_.event[node] < events, "node", node,
                   "of no event");
  }

  void CheckEdgeSlices() {
    Each(graph_.nodes(), [&](uint32_t node) {
      verdict_.Check(graph_.first_edge[node] <= graph_.first_edge[node + 1], "node", node,
                     "its edges end before they begin");
    });
    if (verdict_.ok()) {
      verdict_.Check(graph_.first_edge.front() == 0 && graph_.first_edge.back() == graph_.edges(),
                     "edge", graph_.edges(), "not all belong to nodes");
    }
  }

  void CheckEdgesOf(NodeId from) {
    for (EdgeId edge = graph_.first_edge[from]; edge < graph_.first_edge[from + 1]; ++edge) {
      const NodeId to = graph_.target[edge];
      if (!verdict_.Check(to < graph_.nodes() && to != EventGraph::kBegin, "edge", edge,
                          "leads to no node")) {
        return;
      }
      const int64_t ns = graph_.ts_ns[to] - graph_.ts_ns[from];
      const int64_t weight_ns = graph_.weight_ns[edge];
      const int64_t least_ns = MayLeadBack(graph_.kind[edge]) ? -kMostDriftNs : 0;
      verdict_.Check(ns >= least_ns, "edge", edge, "leads back in time");
      verdict_.Check(weight_ns <= ns && weight_ns >= std::min(ns, int64_t{0}), "edge", edge,
                     "explains no such time");
      verdict_.Check(IsKindOf(graph_.kind[edge], from, to), "edge", edge,
                     "of no kind there is between such nodes");
    }
  }

  bool IsKindOf(EdgeKind kind, NodeId from, NodeId to) const {
    if (kind == EdgeKind::kEnds || from == EventGraph::kBegin || to == EventGraph::kEnd) {
      return kind == EdgeKind::kEnds && from != EventGraph::kEnd;
    }
    if (kind == EdgeKind::kThread) {
      return to == from + 1 && graph_.side[from] == NodeSide::kHost &&
             graph_.side[to] == NodeSide::kHost;
    }
    return kind < EdgeKind::kEnds && from != EventGraph::kEnd &&
           (kind != EdgeKind::kWork || graph_.side[to] == NodeSide::kDevice);
  }

  // Threads of tracks in their order, and with nodes in their order.
  void CheckThreads() {
    const std::vector<ThreadFacts>& threads = recording_.facts.threads;
    verdict_.Check(recording_.first_node.size() == threads.size() &&
                       recording_.end_node.size() == threads.size(),
                   "thread", threads.size(), "the columns of threads differ in length");
    verdict_.Check(recording_.inherited.size() == trace_.tracks.kind.size(), "inherited work",
                   recording_.inherited.size(), "not as many as tracks");
    verdict_.Check(recording_.facts.marks.size() == trace_.host.size(), "host mark",
                   recording_.facts.marks.size(), "not as many as events");
    size_t next_track = 0;
    size_t next_node = EventGraph::kEnd + 1;
    Each(threads.size(), [&](uint32_t i) {
      const size_t track = threads[i].track.value;
      const bool is_thread = track >= next_track && track < trace_.tracks.size() &&
                             trace_.tracks.kind[track] == TrackKind::kHost;
      const NodeId first = recording_.first_node[i];
      const NodeId end = recording_.end_node[i];
      verdict_.Check(is_thread, "thread", i, "on no track");
      verdict_.Check(first >= next_node && first < end && end <= graph_.nodes(), "thread", i,
                     "without nodes of its own");
      next_track = track + 1;
      next_node = end;
      CheckNodesOf(first, end);
    });
  }

  // What a thread did fills the time between its nodes, which are one after the other.
  void CheckNodesOf(NodeId first, NodeId end) {
    for (NodeId node = first; verdict_.ok() && node < end; ++node) {
      verdict_.Check(graph_.side[node] == NodeSide::kHost, "node", node,
                     "of a thread, but not of the host");
      verdict_.Check(node == first || graph_.ts_ns[node - 1] <= graph_.ts_ns[node], "node", node,
                     "earlier than the one before on its thread");
    }
  }

  // Time between nodes that belong to no thread, or to two, would be in no table.
  void CheckThreadEdges() {
    size_t thread = 0;
    Each(graph_.nodes(), [&](uint32_t from) {
      while (thread < recording_.end_node.size() && recording_.end_node[thread] <= from) {
        ++thread;
      }
      const bool goes_on = thread < recording_.end_node.size() &&
                           recording_.first_node[thread] <= from &&
                           from + 1 < recording_.end_node[thread];
      for (EdgeId edge = graph_.first_edge[from]; edge < graph_.first_edge[from + 1]; ++edge) {
        verdict_.Check(goes_on || graph_.kind[edge] != EdgeKind::kThread, "edge", edge,
                       "of a thread, between nodes that are not of one");
      }
    });
  }

  void CheckWork() {
    verdict_.Check(recording_.start_of_work.size() == trace_.device.size(), "start of work",
                   recording_.start_of_work.size(), "not as many as events of devices");
    Each(trace_.device.size(), [&](uint32_t row) {
      const NodeId start = recording_.start_of_work[row];
      const bool is_node = start < graph_.nodes() - 1 && graph_.side[start] == NodeSide::kDevice &&
                           graph_.event[start] == row &&
                           graph_.ts_ns[start] <= graph_.ts_ns[start + 1] &&
                           graph_.first_edge[start] != graph_.first_edge[start + 1];
      verdict_.Check(start == kNoNode || is_node, "start of work", row, "at no node of it");
    });
  }

  void CheckWaits() {
    const std::vector<SyncEdge>& waits = recording_.syncs.edges;
    verdict_.Check(recording_.sync_weight_ns.size() == waits.size(), "wait weight",
                   recording_.sync_weight_ns.size(), "not as many as waits");
    const size_t host = trace_.host.size();
    const size_t device = trace_.device.size();
    Each(waits.size(), [&](uint32_t i) {
      const SyncEdge& wait = waits[i];
      const bool of_stream = wait.kind == SyncKind::kStreamWait;
      verdict_.Check(wait.kind <= SyncKind::kStreamWait, "wait", i, "of no kind");
      verdict_.Check(wait.source.value < device, "wait", i, "for no work");
      verdict_.Check(wait.call.value < host || (of_stream && !wait.call.valid()), "wait", i,
                     "of no call");
      verdict_.Check(!of_stream || wait.target.value < device, "wait", i, "of no work");
    });
  }

  const TraceData& trace_;
  const RecordingGraph& recording_;
  const EventGraph& graph_;
  Verdict& verdict_;
};

}  // namespace

Result<void> CheckSavedTrace(const std::string& file, const SavedExtras& extras,
                             const TraceData& trace, const ColumnData<HostId>& launch_of) {
  Verdict verdict(file);
  CheckNumbers(extras.numbers, verdict);
  verdict.Check(extras.clocks.size() % kClockNumbers == 0, "clock", extras.clocks.size(),
                "is cut off");
  CheckTexts(extras, verdict);
  CheckEvents(trace.host, extras.host_names, "host", verdict);
  CheckEvents(trace.device, extras.device_names, "device", verdict);
  verdict.CheckEach(trace.host.kind, "host kind", "no kind of event",
                    [](HostKind kind) { return kind <= HostKind::kOther; });
  verdict.CheckEach(trace.device.kind, "device kind", "no kind of event",
                    [](DeviceKind kind) { return kind <= DeviceKind::kOther; });
  CheckTracks(extras, trace, verdict);
  verdict.Check(launch_of.size() == trace.device.size(), "launch", launch_of.size(),
                "not as many as events of devices");
  verdict.CheckEach(launch_of, "launch", "by no event", [&](HostId launch) {
    return !launch.valid() || launch.value < trace.host.size();
  });
  const size_t waits = extras.sync_kinds.size();
  verdict.Check(extras.thread_is_main.size() == extras.thread_tracks.size() &&
                    extras.sync_inferred.size() == waits && extras.sync_sources.size() == waits &&
                    extras.sync_calls.size() == waits && extras.sync_targets.size() == waits,
                "wait", waits, "the columns of threads or waits differ in length");
  return verdict.Take();
}

Result<void> CheckSavedGraph(const std::string& file, const TraceData& trace,
                             const RecordingGraph& recording) {
  Verdict verdict(file);
  GraphCheck(trace, recording, verdict).Run();
  return verdict.Take();
}

namespace {

// Reads one piece of a file after the other.
class ColumnReader {
 public:
  ColumnReader(ByteSource& source, const std::string& file) : source_(source), file_(file) {}

  Result<void> ReadHead() {
    char magic[kSavedMagic.size()] = {};
    BS_ASSIGN(const size_t size, Take(magic, sizeof magic));
    if (std::string_view(magic, size) != kSavedMagic) {
      return Error{.code = ErrorCode::kUnsupportedFormat,
                   .cause = "this is no graph that critical-path `save` wrote",
                   .remedy = "give one, or the trace without `load`",
                   .file = file_,
                   .offset = 0};
    }
    uint32_t version = 0;
    BS_TRY(Read(&version, sizeof version, "version"));
    if (version != kSavedVersion) {
      return Error{
          .code = ErrorCode::kUnsupportedFormat,
          .cause = fmt::format("version {} of saved graphs, of which this borescope reads {}",
                               version, kSavedVersion),
          .remedy = "save the graph again with this one",
          .file = file_,
          .offset = kSavedMagic.size()};
    }
    return {};
  }

  template <class Cells>
  Result<void> ReadColumn(std::string_view what, Cells& column) {
    using T = Cells::value_type;
    uint64_t cells = 0;
    BS_TRY(Read(&cells, sizeof cells, what));
    const uint64_t begin = at_;
    // A little at a time: of a number that is wrong the file holds less than the memory would.
    constexpr uint64_t kCellsAtOnce = (uint64_t{4} << 20) / sizeof(T);
    for (uint64_t done = 0; done < cells; done = column.size()) {
      column.resize(done + std::min(cells - done, kCellsAtOnce));
      BS_TRY(Read(column.data() + done, (column.size() - done) * sizeof(T), what));
    }
    uint64_t checksum = 0;
    BS_TRY(Read(&checksum, sizeof checksum, what));
    const auto* bytes = reinterpret_cast<const char*>(column.data());
    return checksum == SavedChecksum(bytes, column.size() * sizeof(T))
               ? Result<void>()
               : Damaged(begin, what, "does not fit its checksum");
  }

  Result<void> ReadEnd() {
    char more = 0;
    BS_ASSIGN(const size_t size, Take(&more, 1));
    return size == 0 ? Result<void>() : Damaged(at_ - 1, "end", "is followed by more bytes");
  }

 private:
  Error Damaged(uint64_t byte, std::string_view what, std::string_view cause) const {
    return {.code = ErrorCode::kCorrupt,
            .cause = fmt::format("{} {}", what, cause),
            .remedy = "save the graph again, or check that the copy finished",
            .file = file_,
            .offset = byte};
  }

  Result<size_t> Take(void* out, size_t size) {
    Result<size_t> taken = ReadFully(source_, static_cast<char*>(out), size);
    if (!taken.ok()) {
      return InFile(file_, taken.error());
    }
    at_ += *taken;
    return taken;
  }

  Result<void> Read(void* out, size_t size, std::string_view what) {
    BS_ASSIGN(const size_t taken, Take(out, size));
    return taken == size ? Result<void>() : Damaged(at_, what, "is cut off");
  }

  ByteSource& source_;
  const std::string& file_;
  uint64_t at_ = 0;
};

// What was read, in the making.
struct SavedParts {
  SavedExtras extras;
  TraceData trace;
  ColumnData<HostId> launch_of;
  RecordingGraph recording;
};

int64_t NumberOf(const SavedExtras& extras, SavedNumber number) {
  return extras.numbers[static_cast<size_t>(number)];
}

std::optional<int64_t> Known(int64_t number) {
  return number == kMissing ? std::nullopt : std::optional(number);
}

Result<void> FillMeta(const std::string& file, SavedParts& parts) {
  Meta& meta = parts.trace.meta;
  meta.file = file;
  const std::optional<TraceFormat> format =
      FindFormatNamed({parts.extras.format.data(), parts.extras.format.size()});
  if (!format.has_value()) {
    return Error{ErrorCode::kCorrupt, "format: none that this borescope knows",
                 "save the graph again", file};
  }
  meta.format = *format;
  meta.rank = Known(NumberOf(parts.extras, SavedNumber::kRank));
  meta.world_size = Known(NumberOf(parts.extras, SavedNumber::kWorldSize));
  meta.base_ns = Known(NumberOf(parts.extras, SavedNumber::kBaseNs));
  meta.vendor = static_cast<Vendor>(NumberOf(parts.extras, SavedNumber::kVendor));
  parts.trace.begin_ns = NumberOf(parts.extras, SavedNumber::kBeginNs);
  parts.trace.end_ns = NumberOf(parts.extras, SavedNumber::kEndNs);
  return {};
}

Result<void> FillNames(const std::string& file, SavedParts& parts) {
  const char* text = parts.extras.texts.data();
  for (const uint32_t size : parts.extras.text_sizes) {
    parts.trace.strings.Intern({text, size});
    text += size;
  }
  if (parts.trace.strings.size() != parts.extras.text_sizes.size() + 1) {  // 0 is the empty one
    return Error{ErrorCode::kCorrupt, "texts: two are equal", "save the graph again", file};
  }
  const SavedExtras& extras = parts.extras;
  parts.trace.host.name.assign(extras.host_names.begin(), extras.host_names.end());
  parts.trace.device.name.assign(extras.device_names.begin(), extras.device_names.end());
  return {};
}

// Tracks follow each other on their spine.
void FillTracks(SavedParts& parts) {
  Tracks& tracks = parts.trace.tracks;
  tracks.process.assign(tracks.size(), kMissing);
  tracks.is_async.assign(tracks.size(), 0);
  tracks.name.assign(tracks.size(), StringId{0});
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_host = tracks.kind[track] == TrackKind::kHost;
    ColumnData<TrackId>& rows = is_host ? parts.trace.host.track : parts.trace.device.track;
    tracks.first_row.push_back(static_cast<uint32_t>(rows.size()));
    rows.resize(rows.size() + parts.extras.track_rows[track], TrackId{track});
    tracks.end_row.push_back(static_cast<uint32_t>(rows.size()));
  }
}

// What each device's clock says about its streams.
void SpreadSkews(const Tracks& tracks, DeviceClocks& clocks) {
  clocks.track_skew_ns.assign(tracks.size(), 0);
  for (size_t track = 0; track < tracks.size(); ++track) {
    for (const DeviceClock& clock : clocks.clocks) {
      if (tracks.kind[track] == TrackKind::kDevice && tracks.pid[track] == clock.device) {
        clocks.track_skew_ns[track] = clock.skew_ns;
      }
    }
  }
}

void FillRecording(SavedParts& parts) {
  const SavedExtras& extras = parts.extras;
  for (size_t i = 0; i < extras.thread_tracks.size(); ++i) {
    parts.recording.facts.threads.push_back(
        {extras.thread_tracks[i], extras.thread_is_main[i] != 0});
  }
  const std::vector<int64_t>& clocks = parts.extras.clocks;
  for (size_t at = 0; at < clocks.size(); at += kClockNumbers) {
    parts.recording.clocks.clocks.push_back({clocks[at], clocks[at + 1], clocks[at + 2],
                                             clocks[at + 3], clocks[at + 4], clocks[at + 5],
                                             clocks[at + 6], clocks[at + 7]});
  }
  SpreadSkews(parts.trace.tracks, parts.recording.clocks);
  SyncEdges& syncs = parts.recording.syncs;
  for (size_t i = 0; i < extras.sync_kinds.size(); ++i) {
    syncs.edges.push_back({extras.sync_kinds[i], extras.sync_inferred[i] != 0,
                           extras.sync_sources[i], extras.sync_calls[i], extras.sync_targets[i]});
  }
  syncs.has_records = NumberOf(extras, SavedNumber::kHasRecords) != 0;
  syncs.backward = static_cast<uint64_t>(NumberOf(extras, SavedNumber::kBackward));
  syncs.unresolved = static_cast<uint64_t>(NumberOf(extras, SavedNumber::kUnresolved));
}

}  // namespace

Result<SavedGraph> LoadGraph(ByteSource& source, const std::string& file,
                             std::string_view data_load) {
  ColumnReader reader(source, file);
  BS_TRY(reader.ReadHead());
  SavedParts parts;
  Result<void> read;
  ForEachSavedColumn(parts.extras, parts.trace, parts.launch_of, parts.recording,
                     [&](std::string_view what, auto& column) {
                       read = read.ok() ? reader.ReadColumn(what, column) : read;
                     });
  if (!read.ok()) {
    return read.error();
  }
  BS_TRY(reader.ReadEnd());
  BS_TRY(CheckSavedTrace(file, parts.extras, parts.trace, parts.launch_of));
  BS_TRY(FillMeta(file, parts));
  BS_TRY(FillNames(file, parts));
  FillTracks(parts);
  FillRecording(parts);
  BS_TRY(CheckSavedGraph(file, parts.trace, parts.recording));
  SavedGraph graph{Trace(std::move(parts.trace)), {}, std::move(parts.recording)};
  graph.index.correlation.launch_of = std::move(parts.launch_of);
  graph.index.class_of_name = ClassifyNames(graph.trace);
  graph.index.steps = BuildSteps(graph.trace, graph.index.correlation);
  graph.recording.facts.is_loading = FindDataLoading(graph.trace, data_load);
  return graph;
}

}  // namespace borescope::internal
