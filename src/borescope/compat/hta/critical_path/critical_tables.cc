// HTA's critical_path_analysis: CPGraph with its breakdown and summary.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/compat/hta/critical_path/critical_graph_tables.h"
#include "borescope/compat/hta/critical_path/critical_path.h"
#include "borescope/compat/hta/names.h"
#include "borescope/compat/hta/tables.h"

namespace borescope::internal {
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

}  // namespace borescope::internal
