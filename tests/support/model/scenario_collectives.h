// Collectives: what each rank sent, and who kept whom waiting.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/model/scenario_batch.h"

namespace borescope::scenario {

// One rank's all-reduces, all alike but for their length.
struct CollectiveSum {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t total_ns = 0;

  void AddStep(const StepBatch& batch);
};

struct WaitSum {
  int64_t rank = 0;
  int64_t caused_ns = 0;   // by all other ranks together, in collectives that waited for this one
  int64_t waited_ns = 0;   // for other ranks
  int64_t times_last = 0;  // collectives in which others waited for this one
};

// Who waited for whom, over the ranks that are written: the others are in no file.
class WaitTruth {
 public:
  explicit WaitTruth(std::vector<int64_t> ranks);

  // REQUIRES: one batch a rank, in the order of the ranks.
  void AddStep(const std::vector<const StepBatch*>& batches);

  const std::vector<WaitSum>& ranks() const { return ranks_; }

 private:
  std::vector<WaitSum> ranks_;
};

}  // namespace borescope::scenario
