// How much of the time a ratio covers. A rate over the part of the time that is understood says
// nothing about the rest, which may be what matters: every such ratio has a column with the share
// of the time that it covers, and is missing below a stated share.
#pragma once

#include <cstdint>

#include "borescope/base/saturating.h"

namespace borescope::internal {

// A ratio is missing if it does not cover 90 % of the time: not more than one part in ten may be
// unknown, so that the rest would hardly change what a reader concludes.
inline constexpr int64_t kUnknownParts = 10;

struct TimeCovered {
  int64_t covered_ns = 0;  // part of all_ns
  int64_t all_ns = 0;

  void Add(int64_t ns, bool is_covered) {
    AddSaturatingTo(all_ns, ns);
    if (is_covered) AddSaturatingTo(covered_ns, ns);
  }
  // Nothing is covered of no time at all.
  bool is_enough() const {
    return all_ns > 0 && SubtractSaturating(all_ns, covered_ns) <= all_ns / kUnknownParts;
  }
};

}  // namespace borescope::internal
