// How many launches wait on each stream, after every change. A launch enters the queue when its
// call begins and leaves it when its first work on the stream begins, so that a graph of many
// kernels counts once. Work that begins before its launch, as clocks may disagree, enters when it
// begins, so no length is negative.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

struct QueueChange {
  int64_t ts_ns = 0;
  int64_t length = 0;  // from ts_ns on
};

struct StreamQueue {
  int64_t gpu = 0;
  int64_t stream = 0;
  int64_t process = kMissing;  // kMissing unless several processes have streams of this number
  std::vector<QueueChange> changes;  // by time; the last length is 0
  int64_t unlinked = 0;              // selected device work without a launch
};

// The queues of all selected streams with work, by GPU and stream. They cover the whole recording
// whatever time is selected, as a length counts what was launched earlier. O(rows log rows).
std::vector<StreamQueue> FindQueues(const RankView& view, const Selected& selected);

}  // namespace borescope::internal
