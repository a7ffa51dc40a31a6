// HTA's critical path of a part of a rank: the graph, the longest way through it, and what bounds
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/packs/hta/critical_path/critical_build.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Immutable once made. The view must outlive it.
class HtaCriticalPath {
 public:
  // kMissingData if there is no such part; kInvalidArgument for a list of occurrences.
  static Result<std::unique_ptr<HtaCriticalPath>> Make(const RankView& view, const Params& params);

  const HtaEvents& events() const { return events_; }
  const std::vector<HtaEventRow>& window() const { return build_->window; }
  const HtaCriticalGraph& graph() const { return build_->graph; }
  HtaEventRow EventOf(CriticalNodeId node) const { return graph().nodes()[node].event; }
  // From first to last; empty if HTA refuses the graph.
  const std::vector<CriticalEdge>& path() const { return path_; }
  // Rows with a node on the path, by position.
  std::vector<HtaEventRow> PathEvents() const;
  bool HasNodes(HtaEventRow row) const { return build_->HasNodes(row); }
  // HTA's bound_by, empty for waits.
  std::string_view BoundBy(const CriticalEdge& edge) const;

 private:
  HtaCriticalPath(const RankView& view, const Params& params);
  bool IsRefused() const;

  HtaFrame frame_;
  HtaEvents events_;
  std::string_view data_load_;
  std::optional<CriticalBuild> build_;
  std::vector<CriticalEdge> path_;
};

// Tables of the whole graph of HTA's critical path, for programs that walk it: --graph.

Table HtaCriticalEvents(const HtaCriticalPath& critical, int64_t rank);
Table HtaCriticalNodes(const HtaCriticalPath& critical, int64_t rank);
Table HtaCriticalEdges(const HtaCriticalPath& critical, int64_t rank);

}  // namespace borescope::internal
