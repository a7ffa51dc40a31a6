#include "tests/support/model/scenario_collectives.h"

#include <algorithm>

namespace borescope::scenario {

void CollectiveSum::AddStep(const StepBatch& batch) {
  constexpr int64_t kFloatBytes = 4;
  for (const DeviceEvent& event : batch.device) {
    if (event.collective < 0 || event.is_dropped) continue;
    ++count;
    bytes += batch.collectives[static_cast<size_t>(event.collective)].elements * kFloatBytes;
    total_ns += event.dur_ns;
  }
}

WaitTruth::WaitTruth(std::vector<int64_t> ranks) {
  for (const int64_t rank : ranks) ranks_.push_back({.rank = rank});
}

// An all-reduce is shortest on the rank that came last; with equal ones the first rank is named.
void WaitTruth::AddStep(const std::vector<const StepBatch*>& batches) {
  if (batches.size() < 2) return;
  std::vector<std::vector<int64_t>> durations(batches.size());
  for (size_t rank = 0; rank < batches.size(); ++rank) {
    for (const DeviceEvent& event : batches[rank]->device) {
      if (event.collective >= 0) durations[rank].push_back(event.dur_ns);
    }
  }
  for (size_t i = 0; i < durations[0].size(); ++i) {
    size_t last = 0;
    for (size_t rank = 1; rank < batches.size(); ++rank) {
      if (durations[rank][i] < durations[last][i]) last = rank;
    }
    const int64_t caused_before_ns = ranks_[last].caused_ns;
    for (size_t rank = 0; rank < batches.size(); ++rank) {
      const int64_t waited_ns = durations[rank][i] - durations[last][i];
      ranks_[rank].waited_ns += waited_ns;
      ranks_[last].caused_ns += waited_ns;
    }
    if (ranks_[last].caused_ns > caused_before_ns) ++ranks_[last].times_last;
  }
}

}  // namespace borescope::scenario
