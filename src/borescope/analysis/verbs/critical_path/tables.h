// The tables of critical-path. Internal to critical_path/.
#pragma once

#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/critical_path/what_if.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Those with a row for every event, without rows.
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
