// Exclusive durations by the rule of the reference linker, to the last bit of its doubles.
#pragma once

#include <span>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/compat/chakra/number.h"

namespace borescope::internal::chakra::compat {

struct TimedSpan {
  Number begin;
  Number duration;
};

// Of every span of one thread what is left of its duration without the spans inside it. Inside is
// what is sorted behind it by (begin, duration) and ends no later; overlapping or touching spans
// count once. Of spans with one begin the shorter comes first, so that the longer one does not see
// it. Less than nothing, which rounding can bring and at which the reference gives up, counts as
// zero (kNegativeDuration). O(n log n) where spans nest; where they cross, up to O(n) for each.
std::vector<Number> ExclusiveDurations(std::span<const TimedSpan> spans, Diagnostics& diagnostics);

}  // namespace borescope::internal::chakra::compat
