// Divides time among works that overlap: at every instant the one of the first kind that runs
// has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "borescope/base/intervals.h"

namespace borescope::internal {

struct KindOfTime {
  Interval time;
  uint32_t kind = 0;
};

// The time of each kind; the sets are disjoint, and their union is that of `works`. REQUIRES: kinds
// below `kinds`, which is at most 64. O(n log n).
std::vector<IntervalSet> DivideTime(const std::vector<KindOfTime>& works, size_t kinds);

}  // namespace borescope::internal
