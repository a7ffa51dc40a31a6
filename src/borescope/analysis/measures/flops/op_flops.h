// The FLOPs of operator calls, for verbs that list operators whether or not they have any.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/flops/modelled_work.h"

namespace borescope::internal {

// A call in the capture of a graph, replayed by a launch of the graph.
struct ReplayedFlops {
  HostId op;      // a captured row
  DeviceId work;  // the first that it did in this launch
  int64_t flops = kMissing;
};

struct CallFlops {
  std::vector<int64_t> of_call;         // per host row of the recording; kMissing if none count
  std::vector<ReplayedFlops> replayed;  // those with known FLOPs
};

// The FLOPs (OpCost::main_flops) of the calls that count. Calls count as
// in `roofline`: those that selected device work belongs to (modelled_work.h), each once. In a
// recording without any device work these are the selected calls with a model that is not
// composite. O(rows), times a logarithm.
Result<CallFlops> FlopsOfCalls(const RankView& view, const Selected& selected);

}  // namespace borescope::internal
