#include "borescope/compat/chakra/sync_deps.h"

#include <algorithm>

#include "borescope/compat/chakra/hta_build.h"
#include "borescope/compat/chakra/hta_graph.h"
#include "borescope/compat/chakra/hta_rows.h"

namespace borescope::internal::chakra::compat {
namespace {

// Waits between works of one stream are no waits; HTA rejects a graph with such.
bool HasWaitInStream(const HtaTable& table, const HtaGraph& graph) {
  return std::any_of(graph.edges().begin(), graph.edges().end(), [&](const HtaEdge& edge) {
    const HtaRow* const from = table.Find(graph.node(edge.from).event);
    const HtaRow* const to = table.Find(graph.node(edge.to).event);
    return edge.is_sync && from->stream == to->stream && from->stream != kNone;
  });
}

void Extract(const DeviceTrace& trace, const HtaGraph& graph, const std::vector<HtaEdge>& path,
             SyncDeps& deps) {
  for (const HtaEdge& edge : path) {
    const std::optional<int64_t> from = trace.events[graph.node(edge.from).event].external_id_given;
    const std::optional<int64_t> to = trace.events[graph.node(edge.to).event].external_id_given;
    if (edge.is_sync && from.has_value() && to.has_value() && *from != *to) {
      deps.by_waiting[*to].push_back(*from);
    }
  }
}

}  // namespace

SyncDeps FindSyncDeps(const DeviceTrace& trace) {
  SyncDeps deps;
  if (std::none_of(trace.events.begin(), trace.events.end(),
                   [](const DeviceEvent& event) { return event.category == "cuda_sync"; })) {
    return deps;  // whatever the path, no wait is on it
  }
  const HtaTable table = BuildHtaTable(trace);
  deps.failure = table.failure;
  if (!deps.failure.empty()) {
    return deps;
  }
  HtaGraph graph;
  AddHostEvents(table, graph);
  deps.failure = AddDeviceEvents(table, graph);
  if (!deps.failure.empty()) {
    return deps;
  }
  std::vector<HtaEdge> path;
  if (HasWaitInStream(table, graph) || !graph.LongestPath(path)) {
    deps.failure = "the event graph of HTA is not valid, so that the reference links without waits";
    return deps;
  }
  Extract(trace, graph, path, deps);
  return deps;
}

}  // namespace borescope::internal::chakra::compat
