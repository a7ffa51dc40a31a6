// Whether the recorded clocks confirm what the lengths of collectives say. The rule of `stragglers`
// compares no clocks: the rank with the shortest kernel came last. If that is so, and the clocks of
// the ranks agree, then its kernel also begins last, as much later as the others waited.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "borescope/analysis/measures/matching/match_calls.h"

namespace borescope::internal {

enum class ClockVerdict : uint8_t {
  kNothing,     // nobody waited
  kAgree,       // the clocks show at least half of the waiting
  kContradict,  // they show less
  kApart,       // they cannot show any: most collectives would have ended on one rank before they
                // began on another
};
std::string_view ClockVerdictName(ClockVerdict verdict);

// The waiting in a collective that its begins show: of every rank the time from its begin to that
// of the last one among those with the shortest call, at most what it waited by the lengths.
int64_t WaitingShownByClocks(std::span<const MatchedCall> calls, int64_t shortest_ns);

// Whether all ranks are in the collective at one moment, as they must be.
bool AreTogether(std::span<const MatchedCall> calls);

// Of the collectives in which a rank came last.
struct ClockEvidence {
  int64_t caused_ns = 0;  // by lengths
  int64_t shown_ns = 0;   // the part of it that clocks show
  int64_t together = 0;   // collectives in which the ranks are together
  int64_t apart = 0;

  ClockVerdict verdict() const;
};

}  // namespace borescope::internal
