// Operators of the kernels that graphs ran, from recordings of how these graphs were captured.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/index/trace_index.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// A recording in which graphs were captured.
struct CaptureFile {
  std::string name;  // for tables and messages
  const Trace& trace;
  const TraceIndex& index;
};

// Whether the recording launches graphs that ran kernels.
Result<bool> ReplaysGraphs(const Trace& trace, const TraceIndex& index);

// Whether it captures a graph.
Result<bool> CapturesGraphs(const Trace& trace, const TraceIndex& index);

// Whether it captures graphs and runs none: the recording of a warm-up, beside that of the work.
Result<bool> OnlyCapturesGraphs(const Trace& trace, const TraceIndex& index);

// The trace with the calls that the captures recorded for kernels of its graphs (CapturedCalls), in
// the order of the files; its index has to be built again. O(rows), times a logarithm.
Result<Trace> AttachCaptures(Trace trace, const TraceIndex& index,
                             std::span<const CaptureFile> files);

}  // namespace borescope::internal
