// Meetings of ranks whose clocks are known: offsets, drift, a clock that is set while it runs,
// ranks that always leave a little later than others, ranks that come late, tails.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/rank_clocks.h"

namespace borescope::internal::testkit {

struct PlantedClock {
  int64_t offset_ns = 0;
  double drift = 0;
  int64_t step_at_ns = 0;  // true time
  int64_t step_ns = 0;
  int64_t exit_bias_ns = 0;
  int64_t grain_ns = 1;

  // What it shows at a true time, which counts from 0.
  int64_t At(int64_t true_ns) const;
};

struct PlantedClocks {
  Meetings meetings;
  RankClockOptions options;
  std::vector<PlantedClock> clocks;  // by rank
  std::vector<int64_t> left_ns;      // by meeting: the true time at which its ranks left

  // What has to be added to the times of `rank` at the end of a meeting to get those of `other`.
  int64_t TrueOffset(uint32_t rank, uint32_t other, size_t meeting) const;
};

struct ClockPlan {
  int64_t most_bias_ns = 9'000;  // of exits, per rank; the allowance stays what it is by default
  double step_chance = 0;        // of a clock, to be set once while it runs
};

PlantedClocks PlantClocks(uint64_t seed, const ClockPlan& plan = {});

}  // namespace borescope::internal::testkit
