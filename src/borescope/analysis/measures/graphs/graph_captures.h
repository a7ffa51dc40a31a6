// Captures of work into graphs on the host: from the call that begins one to the end of the next
// call on its thread that ends one; then the call that makes the graph executable.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

// Any part may be missing: the recording began or ended in between, or the graph was not captured
// but built node by node.
struct GraphCapture {
  TrackId track;
  int64_t begin_ns = kMissing;  // start of the first of its calls
  int64_t capture_ns = kMissing;
  int64_t instantiate_ns = kMissing;  // length of that call
  // Launch calls that started no work, inside the capture on any thread of its process; of the
  // captures around it the one begun last has it. kMissing where no capture was seen from begin to
  // end.
  int64_t launches = kMissing;
  std::vector<HostId> calls = {};  // these, by start
};

// By start, those that began in the selected time. O(rows), times a logarithm.
std::vector<GraphCapture> FindGraphCaptures(const RankView& view, const Selected& selected);

// "cudaStreamBeginCapture_v10000", "hipGraphInstantiate", "cuStreamEndCapture".
bool IsCaptureName(std::string_view name);

}  // namespace borescope::internal
