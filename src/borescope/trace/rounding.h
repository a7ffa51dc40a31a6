// How coarsely the times of a recording were rounded.
#pragma once

#include <cstdint>

#include "borescope/trace/tables.h"

namespace borescope::internal {

// By how much rounding can let an event seem to end after the one it is in, in nanoseconds:
//   1000  all begin at whole microseconds
//   350   all begin at quarters of microseconds: Unix times in microseconds that were written from
//         numbers of double precision (spacing 0.25), as programs in Python that copy traces do; a
//         quarter may be written as .2 or .8, so that each time is off by up to 0.175
//   0     otherwise: times are as recorded
// O(rows).
int64_t RoundingOf(const HostEvents& host);

}  // namespace borescope::internal
