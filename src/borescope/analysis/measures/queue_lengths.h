// How many launches wait on each stream, after every change. A launch enters the queue when its
// call begins and leaves it when its first work on the stream begins, so that a graph of many
// kernels counts once. Work that begins before its launch (clocks disagree) enters when it begins,
// hence no length is negative.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

struct QueueChange {
  int64_t ts_ns = 0;
  int64_t length = 0;  // from here on
};

struct StreamQueue {
  int64_t gpu = 0;
  int64_t stream = 0;
  int64_t process = kMissing;        // of several processes with streams of one number
  std::vector<QueueChange> changes;  // by time; the last length is 0
  int64_t unlinked = 0;              // selected works without a launch
};

// The queues of all selected streams with work, by GPU and stream; of the whole time, whatever
// part of it is selected: a length counts what was launched before. O(rows log rows).
std::vector<StreamQueue> FindQueues(const RankView& view, const Selected& selected);

}  // namespace borescope::internal
