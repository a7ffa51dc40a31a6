// Which part of a trace `convert` writes.
#pragma once

#include <optional>

#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

struct TracePiece {
  TimeWindow window;               // all that is asked for is in it
  std::optional<RecordedCut> cut;  // what it holds; nothing for a whole recording
};

// Of `part` the steps and the range of time are used. The window of steps is the hull of their time
// on the host and on every GPU, inside of the range. Errors are those of a selection of that.
Result<TracePiece> FindPiece(const Trace& trace, const TraceIndex& index, const Selection& part);

}  // namespace borescope::internal
