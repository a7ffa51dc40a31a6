// Shared by all overlays that draw a critical path, whichever rules found the path.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"
#include "borescope/trace/overlay.h"

namespace borescope::internal {

// How much of the trace and of the graph is shown.
struct PathOverlayOptions {
  bool all_events = false;
  bool all_edges = false;

  // kInvalidArgument for all edges without all events, as an edge needs both of its events.
  static Result<PathOverlayOptions> From(const Params& params);
};

// Marks the events at `critical` (positions, in any order). Of the other events only annotations
// and Python frames stay, unless all events do.
OverlayMarks MarkPath(std::vector<uint32_t> critical, const PathOverlayOptions& options);

}  // namespace borescope::internal
