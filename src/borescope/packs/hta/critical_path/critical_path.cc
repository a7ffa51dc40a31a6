#include "borescope/packs/hta/critical_path/critical_path.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/path/path_overlay.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/hta/critical_path/critical_build.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"

namespace borescope::internal {

HtaCriticalPath::HtaCriticalPath(const RankView& view, const Params& params)
    : frame_(view, HtaFrame::StepsOf(params)),
      events_(frame_),
      data_load_(params.Text(kDataLoadParam)) {}

Result<std::unique_ptr<HtaCriticalPath>> HtaCriticalPath::Make(const RankView& view,
                                                               const Params& params) {
  std::unique_ptr<HtaCriticalPath> made(new HtaCriticalPath(view, params));
  BS_ASSIGN(std::vector<HtaEventRow> window, HtaCriticalWindow(made->events_, params.selection));
  made->build_.emplace(made->events_, std::move(window), made->data_load_);
  CriticalBuild& build = *made->build_;
  AddLockEdges(build);
  AddStackEdges(build);
  BS_TRY(AddDeviceEdges(build, params.Flag(kFreeLaunchesParam)));
  if (!made->IsRefused()) {
    made->path_ = build.graph.LongestPath();
  }
  return made;
}

// HTA refuses a graph in which two pieces of work of the same stream wait for each other by an
// event.
bool HtaCriticalPath::IsRefused() const {
  const std::vector<CriticalEdge>& edges = graph().edges();
  return std::any_of(edges.begin(), edges.end(), [&](const CriticalEdge& edge) {
    const int64_t stream = events_[EventOf(edge.from)].stream;
    return edge.kind == CriticalKind::kSync && stream != -1 &&
           stream == events_[EventOf(edge.to)].stream;
  });
}

std::vector<HtaEventRow> HtaCriticalPath::PathEvents() const {
  std::vector<HtaEventRow> rows;
  rows.reserve(2 * path_.size());
  for (const CriticalEdge& edge : path_) {
    rows.push_back(EventOf(edge.from));
    rows.push_back(EventOf(edge.to));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::string_view HtaCriticalPath::BoundBy(const CriticalEdge& edge) const {
  switch (edge.kind) {
    case CriticalKind::kKernelKernelDelay:
      return "gpu_kernel_kernel_overhead";
    case CriticalKind::kLaunchDelay:
      return "gpu_kernel_launch_overhead";
    case CriticalKind::kDependency:
    case CriticalKind::kSync:
      return "";
    case CriticalKind::kOperator:
      break;
  }
  if (edge.event == kNoHtaEvent) {  // between two calls outside of any operator
    return "cpu_bound";
  }
  const std::string name = HtaShortName(events_.NameOf(edge.event));
  if (events_[edge.event].stream < 0) {
    const bool loads = !data_load_.empty() && Contains(name, data_load_);
    return loads ? "data_loading" : "cpu_bound";
  }
  return HtaTypeOf(name) == HtaType::kCommunication ? "gpu_communication_bound"
                                                    : "gpu_compute_bound";
}

// HTA's critical_path_analysis: CPGraph with its breakdown and summary.

Table HtaCriticalEvents(const HtaCriticalPath& critical, int64_t rank) {
  Table table{"cp_events", "Events of the window (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "event_index", Unit::kNone, Role::kDerived, "Event of the file, from 0.");
  AddBool(table, "has_nodes", Role::kDerived, "Whether the graph has nodes for it.");
  table.preview_rows = 20;
  for (const HtaEventRow row : critical.window()) {
    Row(table).Int(rank).Int(critical.events()[row].position).Bool(critical.HasNodes(row));
  }
  return table;
}

Table HtaCriticalNodes(const HtaCriticalPath& critical, int64_t rank) {
  Table table{"cp_nodes", "Nodes of the graph (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "node", Unit::kNone, Role::kDerived, "Number of the node, in order of time.");
  AddInt(table, "event_index", Unit::kNone, Role::kDerived, "Event of the file, from 0.");
  AddInt(table, "ts_us", Unit::kMicroseconds, Role::kDerived, "When, on the clock of the file.");
  AddBool(table, "is_start", Role::kDerived, "Start of the event, or its end.");
  AddBool(table, "is_blocking", Role::kDerived, "Whether the event is a call that waits.");
  table.preview_rows = 20;
  const HtaEvents& events = critical.events();
  int64_t number = 0;
  for (const CriticalNode& node : critical.graph().nodes()) {
    Row(table)
        .Int(rank)
        .Int(number++)
        .Int(events[node.event].position)
        .Int(node.ts_us)
        .Bool(node.is_start)
        .Bool(HtaIsBlockingCall(events.NameOf(node.event)));
  }
  return table;
}

Table HtaCriticalEdges(const HtaCriticalPath& critical, int64_t rank) {
  Table table{"cp_edges", "Edges of the graph (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "from_node", Unit::kNone, Role::kDerived, "Number of a node.");
  AddInt(table, "to_node", Unit::kNone, Role::kDerived, "Number of the node after it.");
  AddString(table, "kind", Role::kDerived, "What kind of edge, in HTA's words.");
  AddInt(table, "weight_us", Unit::kMicroseconds, Role::kDerived,
         "Its weight; below 0 it counts as 0 on a path.");
  AddInt(table, "event_index", Unit::kNone, Role::kDerived,
         "Event that the time belongs to; missing for waits.");
  AddInt(table, "path_position", Unit::kNone, Role::kDerived,
         "On the critical path, from 0; missing elsewhere.");
  table.preview_rows = 20;
  std::map<std::pair<CriticalNodeId, CriticalNodeId>, int64_t> positions;
  for (const CriticalEdge& edge : critical.path()) {
    positions.emplace(std::pair(edge.from, edge.to), static_cast<int64_t>(positions.size()));
  }
  for (const CriticalEdge& edge : critical.graph().edges()) {
    const auto found = positions.find({edge.from, edge.to});
    const bool has_event = edge.event != kNoHtaEvent;
    Row(table)
        .Int(rank)
        .Int(edge.from)
        .Int(edge.to)
        .Text(HtaCriticalKindName(edge.kind))
        .Int(edge.weight_us)
        .MaybeInt(has_event ? int64_t{critical.events()[edge.event].position} : kMissing)
        .MaybeInt(found == positions.end() ? kMissing : found->second);
  }
  return table;
}

namespace {

Table PathTable(const HtaCriticalPath& critical, int64_t rank) {
  Table table{"critical_path", "Critical path (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "position", Unit::kCount, Role::kDerived, "On the path, from 0.");
  AddInt(table, "event_index", Unit::kCount, Role::kDerived,
         "Event of the file whose time it is, from 0; missing for waits.");
  AddString(table, "name", Role::kDerived, "Its short name.");
  AddString(table, "side", Role::kDerived, "host or device.");
  AddString(table, "kind", Role::kDerived, "What kind of edge it is.");
  AddString(table, "bound_by", Role::kDerived, "What bounds it; missing for waits.");
  AddInt(table, "begin_us", Unit::kMicroseconds, Role::kDerived,
         "When it begins, on the clock of the file.");
  AddInt(table, "duration_us", Unit::kMicroseconds, Role::kDerived, "Its weight.");
  table.preview_rows = 20;
  int64_t position = 0;
  const HtaEvents& events = critical.events();
  for (const CriticalEdge& edge : critical.path()) {
    Row row(table);
    row.Int(rank).Int(position++);
    if (edge.event == kNoHtaEvent) {
      row.Missing().Missing().Missing();
    } else {
      row.Int(events[edge.event].position)
          .Text(HtaShortName(events.NameOf(edge.event)))
          .Text(events[edge.event].is_host() ? "host" : "device");
    }
    row.Text(CriticalKindName(edge.kind))
        .MaybeText(critical.BoundBy(edge))
        .Int(critical.graph().nodes()[edge.from].ts_us)
        .Int(edge.weight_us);
  }
  return table;
}

Table SummaryTable(const HtaCriticalPath& critical, int64_t rank) {
  Table table{"critical_path_summary", "What bounds it (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "bound_by", Role::kKey, "What bounds a part of the path; missing for waits.");
  AddInt(table, "total_us", Unit::kMicroseconds, Role::kSum, "Time of those parts.");
  AddFloat(table, "percent", Unit::kPercent, Role::kDerived, "Of the whole path.");
  std::map<std::string_view, int64_t> sums;
  int64_t total = 0;
  for (const CriticalEdge& edge : critical.path()) {
    sums[critical.BoundBy(edge)] += edge.weight_us;
    total += edge.weight_us;
  }
  for (const auto& [bound_by, sum] : sums) {
    Row(table).Int(rank).MaybeText(bound_by).Int(sum).Float(100.0 * ShareOf(sum, total));
  }
  return table;
}

Table SyncTable(const HtaCriticalPath& critical, int64_t rank) {
  Table table{"sync_edges", "Waits for device work (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "from_index", Unit::kCount, Role::kDerived,
         "Event of the file that is waited for, from 0.");
  AddString(table, "from_name", Role::kDerived, "Its short name.");
  AddInt(table, "to_index", Unit::kCount, Role::kDerived, "Event of the file that waits, from 0.");
  AddString(table, "to_name", Role::kDerived, "Its short name.");
  AddString(table, "kind", Role::kDerived,
            "call: a call of the host ends then; stream: work of another stream starts then.");
  AddInt(table, "weight_us", Unit::kMicroseconds, Role::kDerived, "Always 0, as HTA's.");
  table.preview_rows = 20;
  const HtaEvents& events = critical.events();
  for (const CriticalEdge& edge : critical.graph().edges()) {
    if (edge.kind == CriticalKind::kSync) {
      const HtaEventRow from = critical.EventOf(edge.from);
      const HtaEventRow to = critical.EventOf(edge.to);
      Row(table)
          .Int(rank)
          .Int(events[from].position)
          .Text(HtaShortName(events.NameOf(from)))
          .Int(events[to].position)
          .Text(HtaShortName(events.NameOf(to)))
          .Text(events[to].is_host() ? "call" : "stream")
          .Int(edge.weight_us);
    }
  }
  return table;
}

Table GraphTable(const HtaCriticalPath& critical, int64_t rank) {
  Table table{"critical_path_graph", "Its graph (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "events", Unit::kCount, Role::kSum, "Events of the window.");
  AddInt(table, "nodes", Unit::kCount, Role::kSum, "Their starts and ends that have edges.");
  AddInt(table, "edges", Unit::kCount, Role::kSum, "Edges between these.");
  AddInt(table, "path_nodes", Unit::kCount, Role::kSum, "Nodes on the critical path.");
  AddInt(table, "path_events", Unit::kCount, Role::kSum, "Events with a node on it.");
  AddInt(table, "length_us", Unit::kMicroseconds, Role::kSum, "Length of the critical path.");
  AddBool(table, "valid", Role::kDerived,
          "Whether HTA takes the graph; false with a cycle or a wait of a stream for itself.");
  int64_t length = 0;
  for (const CriticalEdge& edge : critical.path()) {
    length += edge.length_us();
  }
  const bool is_valid = !critical.path().empty();
  Row(table)
      .Int(rank)
      .Count(critical.window().size())
      .Count(critical.graph().connected_nodes())
      .Count(critical.graph().edges().size())
      .Count(is_valid ? critical.path().size() + 1 : 0)
      .Count(critical.PathEvents().size())
      .Int(length)
      .Bool(is_valid);
  return table;
}

struct KindSum {
  int64_t edges = 0;
  int64_t weight_us = 0;
};
using KindSums = std::array<KindSum, kCriticalKinds>;

KindSums SumsOf(const std::vector<CriticalEdge>& edges) {
  KindSums sums;
  for (const CriticalEdge& edge : edges) {
    KindSum& sum = sums[static_cast<size_t>(edge.kind)];
    ++sum.edges;
    sum.weight_us += edge.weight_us;
  }
  return sums;
}

Table EdgesTable(const HtaCriticalPath& critical, int64_t rank) {
  Table table{"critical_path_edges", "Its edges by kind (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "kind", Role::kKey, "What kind of edge.");
  AddInt(table, "edges", Unit::kCount, Role::kSum, "How many.");
  AddInt(table, "weight_us", Unit::kMicroseconds, Role::kSum, "Their weights.");
  AddInt(table, "path_edges", Unit::kCount, Role::kSum, "How many on the critical path.");
  AddInt(table, "path_us", Unit::kMicroseconds, Role::kSum, "Their weights.");
  const KindSums all = SumsOf(critical.graph().edges());
  const KindSums on_path = SumsOf(critical.path());
  for (size_t kind = 0; kind < kCriticalKinds; ++kind) {
    Row(table)
        .Int(rank)
        .Text(CriticalKindName(static_cast<CriticalKind>(kind)))
        .Int(all[kind].edges)
        .Int(all[kind].weight_us)
        .Int(on_path[kind].edges)
        .Int(on_path[kind].weight_us);
  }
  return table;
}

}  // namespace

Result<Tables> MapHtaCriticalPath(const RankView& view, const Params& params) {
  BS_ASSIGN(const auto critical, HtaCriticalPath::Make(view, params));
  Tables tables{PathTable(*critical, view.rank), SummaryTable(*critical, view.rank),
                SyncTable(*critical, view.rank), GraphTable(*critical, view.rank),
                EdgesTable(*critical, view.rank)};
  if (params.Flag(kGraphParam)) {
    tables.push_back(HtaCriticalEvents(*critical, view.rank));
    tables.push_back(HtaCriticalNodes(*critical, view.rank));
    tables.push_back(HtaCriticalEdges(*critical, view.rank));
  }
  return tables;
}

// HTA's overlay_critical_path_analysis.

namespace {

constexpr int64_t kMicrosecond = 1000;

struct Times {
  int64_t ts_ns;
  int64_t dur_ns;
};

Times TimesOf(const Trace& trace, const HtaEvent& event) {
  return event.is_host()
             ? Times{trace.host().ts_ns[event.host.value], trace.host().dur_ns[event.host.value]}
             : Times{trace.device().ts_ns[event.device.value],
                     trace.device().dur_ns[event.device.value]};
}

// Ends on the device are a microsecond before the end of the event, and all ends are in whole
// microseconds, so that viewers attach the arrow to it.
OverlayArrow::End EndOf(const HtaCriticalPath& critical, CriticalNodeId id) {
  const CriticalNode& node = critical.graph().nodes()[id];
  const HtaEvent& event = critical.events()[node.event];
  const Times times = TimesOf(critical.events().trace(), event);
  int64_t ts_ns = times.ts_ns;
  if (!node.is_start) {
    ts_ns += times.dur_ns - (event.is_host() ? 0 : std::min(kMicrosecond, times.dur_ns));
  }
  return {event.pid, event.tid, ts_ns / kMicrosecond * kMicrosecond};
}

bool IsDrawn(CriticalKind kind) {
  return kind == CriticalKind::kDependency || kind == CriticalKind::kLaunchDelay ||
         kind == CriticalKind::kSync;
}

void AddArrow(const HtaCriticalPath& critical, const CriticalEdge& edge, bool is_critical,
              OverlayArrows& arrows) {
  arrows.arrows.push_back({EndOf(critical, edge.from), EndOf(critical, edge.to),
                           static_cast<uint32_t>(edge.kind), static_cast<double>(edge.weight_us),
                           is_critical});
}

// All edges except launches without a weight.
void AddAllArrows(const HtaCriticalPath& critical, OverlayArrows& arrows) {
  std::vector<CriticalNodeId> next(critical.graph().nodes().size(), kNoCriticalNode);
  for (const CriticalEdge& edge : critical.path()) {
    next[edge.from] = edge.to;
  }
  for (const CriticalEdge& edge : critical.graph().edges()) {
    if (edge.kind != CriticalKind::kLaunchDelay || edge.weight_us != 0) {
      AddArrow(critical, edge, next[edge.from] == edge.to, arrows);
    }
  }
}

OverlayArrows ArrowsOf(const HtaCriticalPath& critical, bool all) {
  OverlayArrows arrows;
  arrows.name = "critical_path";
  for (size_t kind = 0; kind < kCriticalKinds; ++kind) {
    arrows.types.emplace_back(HtaCriticalKindName(static_cast<CriticalKind>(kind)));
  }
  if (all) {
    AddAllArrows(critical, arrows);
    return arrows;
  }
  for (const CriticalEdge& edge : critical.path()) {
    if (IsDrawn(edge.kind)) {
      AddArrow(critical, edge, true, arrows);
    }
  }
  return arrows;
}

}  // namespace

Result<Overlay> OverlayHtaCriticalPath(const RankView& view, const Params& params) {
  BS_ASSIGN(const PathOverlayOptions options, PathOverlayOptions::From(params));
  BS_ASSIGN(const auto critical, HtaCriticalPath::Make(view, params));
  Overlay overlay;
  overlay.arrows = ArrowsOf(*critical, options.all_edges);
  std::vector<uint32_t> positions;
  for (const HtaEventRow row : critical->PathEvents()) {
    positions.push_back(critical->events()[row].position);
  }
  overlay.marks = MarkPath(std::move(positions), options);
  return overlay;
}

}  // namespace borescope::internal
