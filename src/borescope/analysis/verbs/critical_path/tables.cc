#include "borescope/analysis/verbs/critical_path/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/stop.h"
#include "borescope/table/numbered_texts.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
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

// Where the event stands in the list of its file.
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

// What is of before the recording is no part of the recorded time.
void AddShare(Row& row, int64_t ns, int64_t recorded_ns, std::optional<BoundBy> bound_by) {
  bound_by == BoundBy::kBeforeRecording ? row.Missing() : row.Share(ns, recorded_ns);
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
  for (size_t i = 0; i < steps.size(); ++i) {
    CheckStopAt(i);
    rows.Push(steps[i]);
  }
  return rows.Take();
}

Table PathSummary(const RankView& view, const ColumnData<PathStep>& steps) {
  Table table{"critical_path_summary", "What the critical path is bound by", {}};
  AddRankKey(table);
  AddString(table, "bound_by", Role::kKey,
            "cpu, data_load, launch, kernel_kernel_delay, gpu_compute, gpu_communication, "
            "gpu_memory_copy; wait: for what the recording does not tell; or before_recording: a "
            "device was busy with work from before the recording.")
      .hints.palette = Palette::kCause;
  AddNs(table, "total_ns", "Time on the path; all rows add up to the window.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, kShareDoc);
  AddNs(table, "inferred_ns",
        "Of total_ns, what rests on inferred dependencies: these, and the work they come from.");
  std::array<PathTime, static_cast<size_t>(BoundBy::kCount)> sums{};
  PathTime all;
  for (const PathStep& step : steps) {
    sums[static_cast<size_t>(step.bound_by)].Add(step);
    all.Add(step);
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto bound_by = static_cast<BoundBy>(i);
    Row row(table);
    row.Int(view.rank).Text(BoundByName(bound_by)).Int(sums[i].all_ns);
    AddShare(row, sums[i].all_ns, all.recorded_ns(), bound_by);
    row.Int(sums[i].inferred_ns);
  }
  return table;
}

namespace {

// A row of critical_ops.
struct OpRow {
  std::string name;
  std::string_view side;
  std::optional<int64_t> calls;
  int64_t path_ns = 0;
  std::optional<BoundBy> bound_by;  // of the rest
};

// By time; ops before the rest where they are equal.
std::vector<OpRow> OpRows(const Trace& trace, const std::vector<PathOp>& ops,
                          const PathRest& rest) {
  std::vector<OpRow> rows;
  rows.reserve(ops.size() + rest.size());
  for (const PathOp& op : ops) {
    rows.push_back({std::string(trace.Text(op.name)), SideName(op.side), op.calls, op.path_ns, {}});
  }
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] > 0) {
      const auto bound_by = static_cast<BoundBy>(i);
      rows.push_back(
          {fmt::format("({})", BoundByName(bound_by)), "", std::nullopt, rest[i], bound_by});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const OpRow& a, const OpRow& b) { return a.path_ns > b.path_ns; });
  return rows;
}

}  // namespace

Table OpTable(const RankView& view, const std::vector<PathOp>& ops, const PathRest& rest,
              int64_t recorded_ns) {
  Table table{"critical_ops", "What takes the most time on the critical path", {}, kPreviewRows};
  AddRankKey(table);
  AddString(table, "name", Role::kKey,
            "Name of host events, or of device work; in brackets what bounds the time of none.");
  AddString(table, "side", Role::kKey, "host or device; missing where it is neither's.");
  AddInt(table, "calls", Unit::kCount, Role::kDerived, "Events of that name on the path.");
  AddNs(table, "path_ns",
        "Their time on the path; of host events without what lies in events inside. All rows add "
        "up to the window.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, kShareDoc);
  for (const OpRow& op : OpRows(view.trace, ops, rest)) {
    Row row(table);
    row.Int(view.rank).Text(op.name).MaybeText(op.side).MaybeInt(op.calls).Int(op.path_ns);
    AddShare(row, op.path_ns, recorded_ns, op.bound_by);
  }
  return table;
}

Table WhatIfTable(const RankView& view, const std::vector<WhatIf>& answers, int64_t recorded_ns) {
  Table table{"what_if", "What would be won if it took no time", {}};
  AddRankKey(table);
  AddString(table, "name", Role::kKey, "Name of host events, or of device work.").hints = {
      .palette = Palette::kWork, .names = true};
  AddString(table, "side", Role::kKey, "host or device.");
  AddNs(table, "path_ns", "Time on the path, as in critical_ops.");
  AddNs(table, "saved_ns",
        "By how much the longest path gets shorter if all events of that name in the window take "
        "no time of their own: then another path is the longest.");
  AddFloat(table, "saved_share", Unit::kShare, Role::kDerived, kShareDoc);
  for (const WhatIf& answer : answers) {
    Row(table)
        .Int(view.rank)
        .Text(view.trace.Text(answer.op.name))
        .Text(SideName(answer.op.side))
        .Int(answer.op.path_ns)
        .Int(answer.saved_ns)
        .Share(answer.saved_ns, recorded_ns);
  }
  return table;
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
  for (size_t i = 0; i < syncs.edges.size(); ++i) {
    CheckStopAt(i);
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

}  // namespace borescope::internal
