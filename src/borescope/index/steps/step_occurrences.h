// Steps that have one number: one step whose parts several threads mark, or several steps, as where
// a program started its profiler twice. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// Per step of `steps`: which step of its number and process it is part of, counted from 0 in the
// order of begins. A thread that marks a number again, after the end of all windows of that step,
// begins another one. O(steps log steps).
std::vector<uint32_t> OccurrencesOf(const Trace& trace, const std::vector<Step>& steps);

}  // namespace borescope::internal
