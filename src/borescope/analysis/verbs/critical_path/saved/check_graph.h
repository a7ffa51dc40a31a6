// Whether what a file holds can be a saved graph: every index leads somewhere, times and weights
// fit together. Whatever passes can be asked for all tables. Internal to critical_path/.
#pragma once

#include <string>
#include <vector>

#include "borescope/analysis/verbs/critical_path/saved/saved_columns.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// The columns as read, before anything is made of them. kCorrupt names `file`, cell and cause.
Result<void> CheckSavedTrace(const std::string& file, const SavedExtras& extras,
                             const TraceData& trace, const ColumnData<HostId>& launch_of);

// The graph of that trace, which is complete by now. O(rows + edges).
Result<void> CheckSavedGraph(const std::string& file, const TraceData& trace,
                             const RecordingGraph& recording);

}  // namespace borescope::internal
