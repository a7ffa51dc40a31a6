#include "borescope/compat/hta/critical_path/critical_graph_tables.h"

#include <map>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/compat/hta/names.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
