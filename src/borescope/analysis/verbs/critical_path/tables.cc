#include "borescope/analysis/verbs/critical_path/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// Whether the time is that of a host event or of device work.
bool IsOfEvent(const PathStep& step) {
  return step.bound_by != BoundBy::kWait && step.bound_by != BoundBy::kBeforeRecording &&
         step.event != kNoEvent &&
         (step.side == NodeSide::kHost ||
          (step.side == NodeSide::kDevice && step.kind == PathKind::kOperator));
}

StringId NameIdOf(const Trace& trace, NodeSide side, uint32_t event) {
  return side == NodeSide::kHost ? trace.host().name[event] : trace.device().name[event];
}

// The number of a name on a side among some, or kNone.
class NameNumbers {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit NameNumbers(const Trace& trace)
      : numbers_{std::vector<uint32_t>(trace.strings().size(), kNone),
                 std::vector<uint32_t>(trace.strings().size(), kNone)} {}

  uint32_t& Of(NodeSide side, StringId name) {
    return numbers_[side == NodeSide::kHost ? 0 : 1][name.value];
  }

 private:
  std::array<std::vector<uint32_t>, 2> numbers_;
};

// Events of both sides that were met before.
class EventsSeen {
 public:
  explicit EventsSeen(const Trace& trace)
      : seen_{std::vector<char>(trace.host().size()), std::vector<char>(trace.device().size())} {}

  bool IsNew(NodeSide side, uint32_t event) {
    return std::exchange(seen_[side == NodeSide::kHost ? 0 : 1][event], 1) == 0;
  }

 private:
  std::array<std::vector<char>, 2> seen_;
};

}  // namespace

std::vector<PathOp> SumPath(const RankView& view, const ColumnData<PathStep>& steps) {
  NameNumbers numbers(view.trace);
  std::vector<PathOp> ops;
  EventsSeen seen(view.trace);
  for (const PathStep& step : steps) {
    if (!IsOfEvent(step)) {
      continue;
    }
    const StringId name = NameIdOf(view.trace, step.side, step.event);
    uint32_t& number = numbers.Of(step.side, name);
    if (number == NameNumbers::kNone) {
      number = static_cast<uint32_t>(ops.size());
      ops.push_back({name, step.side, 0, 0});
    }
    ops[number].path_ns += step.end_ns - step.begin_ns;
    ops[number].calls += seen.IsNew(step.side, step.event) ? 1 : 0;
  }
  std::sort(ops.begin(), ops.end(), [&](const PathOp& a, const PathOp& b) {
    return std::tuple(-a.path_ns, a.side, view.trace.Text(a.name)) <
           std::tuple(-b.path_ns, b.side, view.trace.Text(b.name));
  });
  return ops;
}

PathRest SumRest(const ColumnData<PathStep>& steps) {
  PathRest rest{};
  for (const PathStep& step : steps) {
    if (!IsOfEvent(step)) {
      rest[static_cast<size_t>(step.bound_by)] += step.end_ns - step.begin_ns;
    }
  }
  return rest;
}

namespace {

// Time of an edge that belongs to one name.
struct Part {
  EdgeId edge;
  int64_t ns;
};
using Parts = std::vector<std::vector<Part>>;  // by number of the name

class PartFinder {
 public:
  PartFinder(const RankView& view, const RecordingGraph& recording, NameNumbers& numbers,
             const IntervalSet& windows, Parts& parts)
      : view_(view),
        recording_(recording),
        graph_(recording.graph),
        numbers_(numbers),
        windows_(windows),
        parts_(parts) {}

  void OfDevice() {
    const DeviceEvents& device = view_.trace.device();
    for (const uint32_t row : EachRow(device.size())) {
      const NodeId start = recording_.start_of_work[row];
      if (start == kNoNode) {
        continue;
      }
      const uint32_t number = numbers_.Of(NodeSide::kDevice, device.name[row]);
      if (number != NameNumbers::kNone) {
        // The only edge out of its start.
        Add(number, graph_.first_edge[start], {graph_.ts_ns[start], graph_.ts_ns[start + 1]});
      }
    }
  }

  void OfThread(size_t thread) {
    NodeId node = recording_.first_node[thread];
    SweepThread(
        view_.trace, recording_.facts, recording_.facts.threads[thread],
        [&](const ThreadPiece& piece) {
          // Pieces end at every node, so that each lies between two of them.
          while (node + 1 < recording_.end_node[thread] &&
                 graph_.ts_ns[node + 1] <= piece.begin_ns) {
            ++node;
          }
          if (!piece.is_running || !piece.innermost.valid()) {
            return;
          }
          const uint32_t number =
              numbers_.Of(NodeSide::kHost, view_.trace.host().name[piece.innermost.value]);
          if (number != NameNumbers::kNone) {
            Add(number, ThreadEdge(graph_, node), {piece.begin_ns, piece.end_ns});
          }
        },
        [](HostId, bool, int64_t) {});
  }

 private:
  void Add(uint32_t number, EdgeId edge, Interval time) {
    auto window = std::partition_point(windows_.begin(), windows_.end(),
                                       [&](const Interval& w) { return w.end <= time.begin; });
    int64_t ns = 0;
    for (; window != windows_.end() && window->begin < time.end; ++window) {
      ns += std::min(window->end, time.end) - std::max(window->begin, time.begin);
    }
    if (ns > 0 && edge != kNoEdge) {
      parts_[number].push_back({edge, ns});
    }
  }

  const RankView& view_;
  const RecordingGraph& recording_;
  const EventGraph& graph_;
  NameNumbers& numbers_;
  const IntervalSet& windows_;
  Parts& parts_;
};

}  // namespace

std::vector<WhatIf> AskWhatIf(const RankView& view, const RecordingGraph& recording,
                              const TopologicalOrder& order, const std::vector<PathOp>& ops,
                              size_t count, const IntervalSet& windows) {
  count = std::min(count, ops.size());
  NameNumbers numbers(view.trace);
  for (const uint32_t i : EachRow(count)) {
    numbers.Of(ops[i].side, ops[i].name) = i;
  }
  Parts parts(count);
  PartFinder finder(view, recording, numbers, windows, parts);
  finder.OfDevice();
  for (size_t thread = 0; thread < recording.facts.threads.size(); ++thread) {
    finder.OfThread(thread);
  }
  ColumnData<int64_t> weights = recording.graph.weight_ns;
  const int64_t all_ns = LongestLength(recording.graph, order, weights);
  std::vector<WhatIf> answers;
  for (const size_t i : EachIndex(count)) {
    for (const Part& part : parts[i]) {
      weights[part.edge] -= part.ns;
    }
    answers.push_back({ops[i], all_ns - LongestLength(recording.graph, order, weights)});
    for (const Part& part : parts[i]) {
      weights[part.edge] += part.ns;
    }
  }
  return answers;
}

namespace {

constexpr size_t kPreviewRows = 20;

constexpr std::string_view kShareDoc = "Part of the window without before_recording.";

void AddNs(Table& table, std::string_view name, std::string_view doc) {
  AddInt(table, name, Unit::kNanoseconds, Role::kDerived, doc);
}

std::string_view SideName(NodeSide side) {
  constexpr std::string_view kNames[] = {"", "host", "device"};
  return kNames[static_cast<size_t>(side)];
}

std::string_view NameOf(const Trace& trace, NodeSide side, uint32_t event) {
  return side == NodeSide::kHost ? trace.Name(HostId{event}) : trace.Name(DeviceId{event});
}

// The place of the event in the list of its file.
std::optional<int64_t> IndexOf(const Trace& trace, NodeSide side, uint32_t event) {
  const ColumnData<uint32_t>& positions =
      side == NodeSide::kHost ? trace.host().position : trace.device().position;
  if (event == kNoEvent || side == NodeSide::kNone || positions.empty() ||
      positions[event] == kNoPosition) {
    return std::nullopt;
  }
  return positions[event];
}

std::string TrackName(const Tracks& tracks, NodeSide side, TrackId track) {
  return side == NodeSide::kHost
             ? fmt::format("thread {}", tracks.tid[track.value])
             : fmt::format("gpu {} stream {}", tracks.pid[track.value], tracks.tid[track.value]);
}

// Time from before the recording is no part of the recorded time.
std::optional<double> ShareOfRecorded(int64_t ns, int64_t recorded_ns,
                                      std::optional<BoundBy> bound_by) {
  return bound_by == BoundBy::kBeforeRecording ? std::nullopt
                                               : std::optional(ShareOf(ns, recorded_ns));
}

// What a step without an event is called.
std::string_view OutsideName(const PathStep& step) {
  return step.side == NodeSide::kHost ? "(between events)" : "(nothing recorded)";
}

// The table with a row for every step that is pushed.
class PathRows {
 public:
  PathRows(const RankView& view, size_t steps)
      : view_(view),
        trace_(view.trace),
        table_(NewPathTable()),
        names_(*table_.Find("name"), trace_.strings().size() + 2),
        kinds_(*table_.Find("kind"), kMostKinds),
        bounds_(*table_.Find("bound_by"), static_cast<size_t>(BoundBy::kCount)),
        sides_(*table_.Find("side"), 3),
        tracks_(*table_.Find("track"), trace_.tracks().size()) {
    ReserveRows(table_, steps);
  }

  void Push(const PathStep& step) {
    Row row(table_);
    row.Int(view_.rank).Int(position_++);
    row.Int(step.begin_ns - trace_.begin_ns()).Int(step.end_ns - step.begin_ns);
    PushName(step, row);
    row.Numbered(kinds_, static_cast<size_t>(step.kind), [&] { return PathKindName(step.kind); });
    row.Numbered(bounds_, static_cast<size_t>(step.bound_by),
                 [&] { return BoundByName(step.bound_by); });
    PushPlace(step, row);
    row.MaybeInt(IndexOf(trace_, step.side, step.event)).Int(step.begin_ns).Bool(step.is_inferred);
  }

  Table Take() { return std::move(table_); }

 private:
  static constexpr size_t kMostKinds = 8;

  // Names of events, and after them the two of steps without one.
  void PushName(const PathStep& step, Row& row) {
    if (step.event == kNoEvent) {
      const size_t number = trace_.strings().size() + (step.side == NodeSide::kHost ? 0 : 1);
      row.Numbered(names_, number, [&] { return OutsideName(step); });
      return;
    }
    const StringId name = step.side == NodeSide::kHost ? trace_.host().name[step.event]
                                                       : trace_.device().name[step.event];
    row.Numbered(names_, name.value, [&] { return trace_.Text(name); });
  }

  void PushPlace(const PathStep& step, Row& row) {
    step.side == NodeSide::kNone
        ? row.Missing()
        : row.Numbered(sides_, static_cast<size_t>(step.side), [&] { return SideName(step.side); });
    if (step.event == kNoEvent) {
      row.Missing();
      return;
    }
    const TrackId track = step.side == NodeSide::kHost ? trace_.host().track[step.event]
                                                       : trace_.device().track[step.event];
    row.Numbered(tracks_, track.value,
                 [&] { return TrackName(trace_.tracks(), step.side, track); });
  }

  const RankView& view_;
  const Trace& trace_;
  Table table_;
  int64_t position_ = 0;
  NumberedTexts names_;
  NumberedTexts kinds_;
  NumberedTexts bounds_;
  NumberedTexts sides_;
  NumberedTexts tracks_;
};

}  // namespace

Table NewPathTable() {
  Table table{"critical_path", "The critical path", {}, kPreviewRows};
  AddRankKey(table);
  AddInt(table, "position", Unit::kNone, Role::kKey, "Place on the path, from 0.");
  AddNs(table, "elapsed_ns", "Begin, from the begin of the recording.");
  AddNs(table, "duration_ns", "Length of this piece of the path.");
  AddString(table, "name", Role::kDerived,
            "Event the time belongs to: the innermost of a thread, the device work, or what waits "
            "for the dependency.");
  AddString(table, "kind", Role::kDerived,
            "operator (an event itself), launch_delay, kernel_kernel_delay, sync or dependency.");
  AddString(table, "bound_by", Role::kDerived, "What the time is spent on, as in the summary.");
  AddString(table, "side", Role::kDerived, "host or device; missing where nothing is recorded.");
  AddString(table, "track", Role::kDerived, "Thread or stream of the event.");
  AddInt(table, "index", Unit::kNone, Role::kDerived,
         "Position of the event in the file's list of events; missing where it has none.");
  AddNs(table, "begin_ns", "Begin, on the clock of the host in the file.");
  AddBool(table, "inferred", Role::kDerived,
          "Whether the dependency was not recorded but inferred, or the path came to this work by "
          "one that was.");
  return table;
}

Table PathTable(const RankView& view, const ColumnData<PathStep>& steps) {
  PathRows rows(view, steps.size());
  for (const size_t i : EachIndex(steps.size())) {
    rows.Push(steps[i]);
  }
  return rows.Take();
}

namespace {

struct BoundRow {
  int64_t rank = 0;
  std::string_view bound_by = {};
  int64_t total_ns = 0;
  std::optional<double> share = {};
  int64_t inferred_ns = 0;

  static constexpr TableNames kTable{"critical_path_summary", "What the critical path is bound by"};
  static constexpr ColumnOf<BoundRow> kColumns[] = {
      {"rank", &BoundRow::rank, Role::kKey, kRankDoc},
      {"bound_by", &BoundRow::bound_by, Role::kKey,
       "cpu, data_load, launch, kernel_kernel_delay, gpu_compute, gpu_communication, "
       "gpu_memory_copy; wait: for what the recording does not tell; or before_recording: a "
       "device was busy with work from before the recording.",
       InColours(Palette::kCause)},
      {"total_ns", &BoundRow::total_ns, Unit::kNanoseconds, Role::kDerived,
       "Time on the path; all rows add up to the window."},
      {"share", &BoundRow::share, Unit::kShare, Role::kDerived, kShareDoc},
      {"inferred_ns", &BoundRow::inferred_ns, Unit::kNanoseconds, Role::kDerived,
       "Of total_ns, what rests on inferred dependencies: these, and the work they come from."}};
};

}  // namespace

Table PathSummary(const RankView& view, const ColumnData<PathStep>& steps) {
  std::array<PathTime, static_cast<size_t>(BoundBy::kCount)> sums{};
  PathTime all;
  for (const PathStep& step : steps) {
    sums[static_cast<size_t>(step.bound_by)].Add(step);
    all.Add(step);
  }
  std::vector<BoundRow> rows;
  rows.reserve(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto bound_by = static_cast<BoundBy>(i);
    rows.push_back({.rank = view.rank,
                    .bound_by = BoundByName(bound_by),
                    .total_ns = sums[i].all_ns,
                    .share = ShareOfRecorded(sums[i].all_ns, all.recorded_ns(), bound_by),
                    .inferred_ns = sums[i].inferred_ns});
  }
  return MakeTable(rows);
}

namespace {

struct OpRow {
  int64_t rank = 0;
  std::string name = {};
  std::optional<std::string_view> side = {};
  std::optional<int64_t> calls = {};
  int64_t path_ns = 0;
  std::optional<double> share = {};

  static constexpr TableNames kTable{"critical_ops",
                                     "What takes the most time on the critical path", kPreviewRows};
  static constexpr ColumnOf<OpRow> kColumns[] = {
      {"rank", &OpRow::rank, Role::kKey, kRankDoc},
      {"name", &OpRow::name, Role::kKey,
       "Name of host events, or of device work; in brackets what bounds the time of none."},
      {"side", &OpRow::side, Role::kKey, "host or device; missing where it is neither's."},
      {"calls", &OpRow::calls, Unit::kCount, Role::kDerived, "Events of that name on the path."},
      {"path_ns", &OpRow::path_ns, Unit::kNanoseconds, Role::kDerived,
       "Their time on the path; of host events without what lies in events inside. All rows add "
       "up to the window."},
      {"share", &OpRow::share, Unit::kShare, Role::kDerived, kShareDoc}};
};

// By time; ops before the rest where they are equal.
std::vector<OpRow> OpRows(const RankView& view, const std::vector<PathOp>& ops,
                          const PathRest& rest, int64_t recorded_ns) {
  std::vector<OpRow> rows;
  rows.reserve(ops.size() + rest.size());
  for (const PathOp& op : ops) {
    rows.push_back({.rank = view.rank,
                    .name = std::string(view.trace.Text(op.name)),
                    .side = Recorded(SideName(op.side)),
                    .calls = op.calls,
                    .path_ns = op.path_ns,
                    .share = ShareOf(op.path_ns, recorded_ns)});
  }
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] > 0) {
      const auto bound_by = static_cast<BoundBy>(i);
      rows.push_back({.rank = view.rank,
                      .name = fmt::format("({})", BoundByName(bound_by)),
                      .path_ns = rest[i],
                      .share = ShareOfRecorded(rest[i], recorded_ns, bound_by)});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const OpRow& a, const OpRow& b) { return a.path_ns > b.path_ns; });
  return rows;
}

}  // namespace

Table OpTable(const RankView& view, const std::vector<PathOp>& ops, const PathRest& rest,
              int64_t recorded_ns) {
  return MakeTable(OpRows(view, ops, rest, recorded_ns));
}

namespace {

struct WhatIfRow {
  int64_t rank = 0;
  std::string_view name = {};
  std::string_view side = {};
  int64_t path_ns = 0;
  int64_t saved_ns = 0;
  double saved_share = 0;

  static constexpr TableNames kTable{"what_if", "What would be won if it took no time"};
  static constexpr ColumnOf<WhatIfRow> kColumns[] = {
      {"rank", &WhatIfRow::rank, Role::kKey, kRankDoc},
      {"name", &WhatIfRow::name, Role::kKey, "Name of host events, or of device work.",
       AsNames(Palette::kWork)},
      {"side", &WhatIfRow::side, Role::kKey, "host or device."},
      {"path_ns", &WhatIfRow::path_ns, Unit::kNanoseconds, Role::kDerived,
       "Time on the path, as in critical_ops."},
      {"saved_ns", &WhatIfRow::saved_ns, Unit::kNanoseconds, Role::kDerived,
       "By how much the longest path gets shorter if all events of that name in the window take "
       "no time of their own: then another path is the longest."},
      {"saved_share", &WhatIfRow::saved_share, Unit::kShare, Role::kDerived, kShareDoc}};
};

}  // namespace

Table WhatIfTable(const RankView& view, const std::vector<WhatIf>& answers, int64_t recorded_ns) {
  std::vector<WhatIfRow> rows;
  rows.reserve(answers.size());
  for (const WhatIf& answer : answers) {
    rows.push_back({.rank = view.rank,
                    .name = view.trace.Text(answer.op.name),
                    .side = SideName(answer.op.side),
                    .path_ns = answer.op.path_ns,
                    .saved_ns = answer.saved_ns,
                    .saved_share = ShareOf(answer.saved_ns, recorded_ns)});
  }
  return MakeTable(rows);
}

Table NewSyncTable() {
  Table table{"sync_edges", "Who waits for which device work", {}, kPreviewRows};
  AddRankKey(table);
  AddString(table, "kind", Role::kDerived,
            "event, event_query (asked without waiting), stream, device, copy or stream_wait.");
  AddString(table, "from_name", Role::kDerived, "The last work that is waited for.");
  AddString(table, "to_name", Role::kDerived, "What waits: a call, or the work of a stream.");
  AddNs(table, "weight_ns",
        "From the end of the work until what waited went on; 0 where it was not the last to wait "
        "for.");
  AddBool(table, "inferred", Role::kDerived,
          "Not recorded: follows from the name of the call and from what ended before it.");
  AddInt(table, "from_index", Unit::kNone, Role::kDerived,
         "Position of the device work that is waited for in the file's list of events.");
  AddInt(table, "to_index", Unit::kNone, Role::kDerived,
         "Position of the call whose end waits, or of the work whose start waits.");
  return table;
}

Table SyncTable(const RankView& view, const RecordingGraph& recording, const Selected& selected) {
  Table table = NewSyncTable();
  const SyncEdges& syncs = recording.syncs;
  for (const size_t i : EachIndex(syncs.edges.size())) {
    const SyncEdge& edge = syncs.edges[i];
    const bool to_work = edge.kind == SyncKind::kStreamWait;
    const NodeSide side = to_work ? NodeSide::kDevice : NodeSide::kHost;
    const uint32_t to = to_work ? edge.target.value : edge.call.value;
    const int64_t asked_ns = edge.call.valid() ? view.trace.host().ts_ns[edge.call.value]
                                               : view.trace.device().ts_ns[to];
    if (!selected.KeepsTime(asked_ns)) {
      continue;
    }
    Row(table)
        .Int(view.rank)
        .Text(SyncKindName(edge.kind))
        .Text(view.trace.Name(edge.source))
        .Text(NameOf(view.trace, side, to))
        .Int(recording.sync_weight_ns[i])
        .Bool(edge.inferred)
        .MaybeInt(IndexOf(view.trace, NodeSide::kDevice, edge.source.value))
        .MaybeInt(IndexOf(view.trace, side, to));
  }
  return table;
}

namespace {

// slack: how much longer each event could take without making the recording longer.

// Per edge: how much longer it could take.
class Slack {
 public:
  Slack(const EventGraph& graph, const TopologicalOrder& order, const LongestPaths& paths)
      : graph_(graph),
        paths_(paths),
        latest_(LatestTimes(graph, order, paths.ns[EventGraph::kEnd])) {}

  int64_t Of(NodeId from, EdgeId edge) const {
    return latest_[graph_.target[edge]] - graph_.weight_ns[edge] - paths_.ns[from];
  }

 private:
  const EventGraph& graph_;
  const LongestPaths& paths_;
  ColumnData<int64_t> latest_;
};

// The table with a row for every event that is pushed.
class SlackRows {
 public:
  SlackRows(const RankView& view, size_t most)
      : view_(view),
        table_(NewSlackTable()),
        names_(*table_.Find("name"), view.trace.strings().size()),
        sides_(*table_.Find("side"), 3) {
    ReserveRows(table_, most);
  }

  void Push(HostId id, int64_t slack_ns) {
    Push(view_.trace.host(), NodeSide::kHost, "host", id.value, slack_ns);
  }
  void Push(DeviceId id, int64_t slack_ns) {
    Push(view_.trace.device(), NodeSide::kDevice, "device", id.value, slack_ns);
  }

  Table Take() { return std::move(table_); }

 private:
  template <class Events>
  void Push(const Events& events, NodeSide side, std::string_view side_name, uint32_t event,
            int64_t slack_ns) {
    const bool has_index = !events.position.empty() && events.position[event] != kNoPosition;
    const StringId name = events.name[event];
    Row row(table_);
    row.Int(view_.rank).Numbered(names_, name.value, [&] { return view_.trace.Text(name); });
    row.Numbered(sides_, static_cast<size_t>(side), [&] { return side_name; });
    row.Int(events.dur_ns[event]).Int(slack_ns);
    has_index ? row.Int(events.position[event]) : row.Missing();
    row.Int(events.ts_ns[event]);
  }

  const RankView& view_;
  Table table_;
  NumberedTexts names_;
  NumberedTexts sides_;
};

constexpr int64_t kNoSlack = -1;

bool HasSlack(HostKind kind) { return kind == HostKind::kOp || kind == HostKind::kRuntime; }

// No fewer than there will be.
size_t MostRows(const Trace& trace, const Selected& selected) {
  size_t rows = 0;
  for (const uint32_t row : EachRow(trace.host().size())) {
    rows += HasSlack(trace.host().kind[row]) && selected.Keeps(HostId{row}) ? 1 : 0;
  }
  for (const uint32_t row : EachRow(trace.device().size())) {
    rows += IsDeviceWork(trace.device().kind[row]) && selected.Keeps(DeviceId{row}) ? 1 : 0;
  }
  return rows;
}

// Per row of the thread the slack of the stretch in which it ends; kNoSlack of rows that are no
// operators or calls, or not kept.
ColumnData<int64_t> ThreadSlack(const RankView& view, const RecordingGraph& recording,
                                size_t thread, const Slack& slack, const Selected& selected) {
  const EventGraph& graph = recording.graph;
  const uint32_t track = recording.facts.threads[thread].track.value;
  const uint32_t first_row = view.trace.tracks().first_row[track];
  ColumnData<int64_t> found(view.trace.tracks().end_row[track] - first_row, kNoSlack);
  NodeId node = recording.first_node[thread];
  SweepThread(
      view.trace, recording.facts, recording.facts.threads[thread], [](const ThreadPiece&) {},
      [&](HostId id, bool is_end, int64_t at_ns) {
        if (!is_end || !HasSlack(view.trace.host().kind[id.value]) || !selected.Keeps(id)) {
          return;
        }
        while (node + 2 < recording.end_node[thread] && graph.ts_ns[node + 1] < at_ns) {
          ++node;
        }
        const EdgeId edge = ThreadEdge(graph, node);
        if (edge != kNoEdge) {
          found[id.value - first_row] = slack.Of(node, edge);
        }
      });
  return found;
}

}  // namespace

Table NewSlackTable() {
  Table table{"slack", "How much longer events could take without making all longer", {}, 20};
  AddRankKey(table);
  AddString(table, "name", Role::kDerived, "Operator, call or device work.");
  AddString(table, "side", Role::kDerived, "host or device.");
  AddInt(table, "duration_ns", Unit::kNanoseconds, Role::kDerived, "Its length.");
  AddInt(table, "slack_ns", Unit::kNanoseconds, Role::kDerived,
         "How much longer it could take, at its end, with the recording as long as it is; 0 on the "
         "path. Of a call that waits: how much later it could have been made.");
  AddInt(table, "index", Unit::kNone, Role::kDerived,
         "Position in the file's list of events; missing where it has none.");
  AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kDerived, "Begin, on the clock of the file.");
  return table;
}

Table SlackTable(const RankView& view, const RecordingGraph& recording,
                 const TopologicalOrder& order, const LongestPaths& paths,
                 const Selected& selected) {
  const Slack slack(recording.graph, order, paths);
  SlackRows rows(view, MostRows(view.trace, selected));
  for (size_t thread = 0; thread < recording.facts.threads.size(); ++thread) {
    const ColumnData<int64_t> found = ThreadSlack(view, recording, thread, slack, selected);
    const TrackId track = recording.facts.threads[thread].track;
    for (const uint32_t i : EachRow(found.size())) {
      if (found[i] != kNoSlack) {
        rows.Push(HostId{view.trace.tracks().first_row[track.value] + i}, found[i]);
      }
    }
  }
  for (const uint32_t row : EachRow(view.trace.device().size())) {
    const NodeId start = recording.start_of_work[row];
    if (start != kNoNode && selected.Keeps(DeviceId{row})) {
      rows.Push(DeviceId{row}, slack.Of(start, recording.graph.first_edge[start]));
    }
  }
  return rows.Take();
}

namespace {

// clock_skew: how far the clocks of the devices are from that of the host.

constexpr double kNsOfMicrosecond = 1000;

// What was done, and what does not fit together; empty where nothing had to be done.
std::string NoteOf(const DeviceClock& clock) {
  std::string note;
  if (clock.skew_ns != 0) {
    note = fmt::format(
        "The clock of this device is {:.3f} us {} that of the host. The path uses its times "
        "corrected by that; tables of device work show them as recorded.",
        std::abs(static_cast<double>(clock.skew_ns)) / kNsOfMicrosecond,
        clock.skew_ns < 0 ? "ahead of" : "after");
  }
  if (clock.contradicting > 0) {
    note += note.empty() ? "" : " ";
    note += fmt::format(
        "The clock drifts, or a record is wrong: {} of the launches and waits contradict it. Those "
        "that do by at most {:.0f} us are in the graph.",
        clock.contradicting, static_cast<double>(kMostDriftNs) / kNsOfMicrosecond);
  }
  return note;
}

struct ClockSkewRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  int64_t skew_ns = 0;
  std::optional<int64_t> lowest_ns = {};
  std::optional<int64_t> highest_ns = {};
  int64_t launches = 0;
  int64_t waits = 0;
  int64_t inferred_waits = 0;
  int64_t contradicting = 0;
  std::optional<std::string> help = {};

  static constexpr TableNames kTable{"clock_skew",
                                     "How far the clocks of devices are from that of the host"};
  static constexpr ColumnOf<ClockSkewRow> kColumns[] = {
      {"rank", &ClockSkewRow::rank, Role::kKey, kRankDoc},
      {"gpu", &ClockSkewRow::gpu, Role::kKey, "Device number."},
      {"skew_ns", &ClockSkewRow::skew_ns, Unit::kNanoseconds, Role::kDerived,
       "What the critical path adds to times of the device, so that no work begins before its "
       "launch and no wait ends before its work."},
      {"lowest_ns", &ClockSkewRow::lowest_ns, Unit::kNanoseconds, Role::kDerived,
       "The least value that recorded launches allow; missing without launches."},
      {"highest_ns", &ClockSkewRow::highest_ns, Unit::kNanoseconds, Role::kDerived,
       "The largest value that recorded waits allow; missing without such waits."},
      {"launches", &ClockSkewRow::launches, Unit::kCount, Role::kDerived,
       "Launch calls and their work."},
      {"waits", &ClockSkewRow::waits, Unit::kCount, Role::kDerived,
       "Calls that waited, by a record of the profiler, and what they waited for."},
      {"inferred_waits", &ClockSkewRow::inferred_waits, Unit::kCount, Role::kDerived,
       "Calls that waited by their name, and what they waited for."},
      {"contradicting", &ClockSkewRow::contradicting, Unit::kCount, Role::kDerived,
       "Those of the three that do not hold with skew_ns."},
      {"help", &ClockSkewRow::help, Role::kDerived,
       "What was corrected or contradicts; missing where nothing does."}};
};

}  // namespace

Table ClockTable(const RankView& view, const DeviceClocks& clocks) {
  std::vector<ClockSkewRow> rows;
  rows.reserve(clocks.clocks.size());
  for (const DeviceClock& clock : clocks.clocks) {
    const std::string note = NoteOf(clock);
    rows.push_back({.rank = view.rank,
                    .gpu = clock.device,
                    .skew_ns = clock.skew_ns,
                    .lowest_ns = Recorded(clock.lowest_ns),
                    .highest_ns = Recorded(clock.highest_ns),
                    .launches = clock.launches,
                    .waits = clock.waits,
                    .inferred_waits = clock.inferred,
                    .contradicting = clock.contradicting,
                    .help = note.empty() ? std::nullopt : std::optional(note)});
  }
  return MakeTable(rows);
}

}  // namespace borescope::internal
