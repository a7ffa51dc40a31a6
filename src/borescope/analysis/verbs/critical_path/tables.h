// The tables of critical-path. Internal to critical_path/.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// What is on the path by name, and what would be won if it took no time.

// Host events or device work of one name on the path.
struct PathOp {
  StringId name;
  NodeSide side = NodeSide::kNone;
  int64_t calls = 0;    // events, each once
  int64_t path_ns = 0;  // of the host: without what lies in other events
};

// By time on the path, then side and name. Time outside all events, delays and waits are nobody's.
std::vector<PathOp> SumPath(const RankView& view, const ColumnData<PathStep>& steps);

// The rest: time that is nobody's, by what bounds it. With SumPath it adds up to all steps.
using PathRest = std::array<int64_t, static_cast<size_t>(BoundBy::kCount)>;
PathRest SumRest(const ColumnData<PathStep>& steps);

struct WhatIf {
  PathOp op;
  int64_t saved_ns = 0;  // by how much the recording would be shorter
};

// For the first `count` of `ops`: how much shorter the longest path gets if all events of that name
// in the windows, on the path or not, took no time of their own. O(rows + count * edges).
std::vector<WhatIf> AskWhatIf(const RankView& view, const RecordingGraph& recording,
                              const TopologicalOrder& order, const std::vector<PathOp>& ops,
                              size_t count, const IntervalSet& windows);

// The tables that have a row for every event, without rows.
Table NewPathTable();
Table NewSyncTable();
Table NewSlackTable();

// `recorded_ns`: the window without what is of before the recording, which shares are relative to.
Table PathTable(const RankView& view, const ColumnData<PathStep>& steps);
Table PathSummary(const RankView& view, const ColumnData<PathStep>& steps);
Table SyncTable(const RankView& view, const RecordingGraph& recording, const Selected& selected);
Table OpTable(const RankView& view, const std::vector<PathOp>& ops, const PathRest& rest,
              int64_t recorded_ns);
Table WhatIfTable(const RankView& view, const std::vector<WhatIf>& answers, int64_t recorded_ns);
Table SlackTable(const RankView& view, const RecordingGraph& recording,
                 const TopologicalOrder& order, const LongestPaths& paths,
                 const Selected& selected);
// All tables of the verb, of the part that is selected.
Result<Tables> AnswerCriticalPath(const RankView& view, const PathGraph& path,
                                  const Params& params);

// How far the clocks of the devices are from that of the host, and what is known of it.
Table ClockTable(const RankView& view, const DeviceClocks& clocks);

// How far the waits are known, how much of the path is inferred, and what would tell more.
Table SyncQualityTable(const RankView& view, const SyncEdges& syncs,
                       const ColumnData<PathStep>& steps);

// What --overlay draws.
Result<Overlay> OverlayCriticalPath(const RankView& view, const Params& params);

}  // namespace borescope::internal
