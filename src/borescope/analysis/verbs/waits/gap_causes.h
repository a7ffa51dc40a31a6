// What a device did in any time, by cause (late_causes.h): prepared once for a rank, asked for the
// time before each of its collectives.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/time/interval_sums.h"
#include "borescope/analysis/verbs/waits/late_causes.h"

namespace borescope::internal {

class GapCauses {
 public:
  // O(rows log rows).
  static Result<GapCauses> Make(const RankView& view);

  // The time from `begin` to `end` of a device by cause; the parts add up to it. What comes after
  // its last work is unknown. All zero where the time is none. O(log rows).
  CauseNs Within(int64_t gpu, int64_t begin, int64_t end) const;

 private:
  struct Device {
    std::vector<IntervalSums> by_cause;  // of all own causes but kUnknown, which is the rest
  };

  std::map<int64_t, Device> devices_;  // by number
};

// The time in which kernels compute on any device of the rank.
Result<IntervalSet> ComputeTime(const RankView& view);

}  // namespace borescope::internal
