// What drawings of a critical path have in common, whoever's path it is.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"
#include "borescope/trace/overlay.h"

namespace borescope::internal {

// What of the trace and of the graph is shown.
struct PathOverlayOptions {
  bool all_events = false;
  bool all_edges = false;

  // kInvalidArgument for all edges between events of which only some are kept.
  static Result<PathOverlayOptions> From(const Params& params);
};

// Marks the events at `critical` (positions, in any order); of the others only annotations and
// Python frames stay, unless all do.
OverlayMarks MarkPath(std::vector<uint32_t> critical, const PathOverlayOptions& options);

}  // namespace borescope::internal
