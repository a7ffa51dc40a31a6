// slack: how much longer each event could take without making the recording longer.
#include <algorithm>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/critical_path/tables.h"
#include "borescope/base/stop.h"
#include "borescope/table/numbered_texts.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

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
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    CheckStopAt(row);
    rows += HasSlack(trace.host().kind[row]) && selected.Keeps(HostId{row}) ? 1 : 0;
  }
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    CheckStopAt(row);
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
    for (uint32_t i = 0; i < found.size(); ++i) {
      CheckStopAt(i);
      if (found[i] != kNoSlack) {
        rows.Push(HostId{view.trace.tracks().first_row[track.value] + i}, found[i]);
      }
    }
  }
  for (uint32_t row = 0; row < view.trace.device().size(); ++row) {
    CheckStopAt(row);
    const NodeId start = recording.start_of_work[row];
    if (start != kNoNode && selected.Keeps(DeviceId{row})) {
      rows.Push(DeviceId{row}, slack.Of(start, recording.graph.first_edge[start]));
    }
  }
  return rows.Take();
}

}  // namespace borescope::internal
