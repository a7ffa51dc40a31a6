// What is on the path by name, and what would be won if it took no time. Internal to
// critical_path/.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/path/path.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
