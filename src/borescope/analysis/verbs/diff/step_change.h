// The answer of `diff`: what a step takes in both runs, which parts of its time make the
// difference, and that in one sentence. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/verbs/diff/changes.h"
#include "borescope/analysis/verbs/diff/run_sums.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// A part of the time of a step, or of what else runs are compared by; the first one is the whole.
struct TimeChange {
  std::string_view part = {};
  int64_t base_ns = 0;
  int64_t test_ns = 0;
};

// "35.7 ms against 67.1 ms a step, 1.88 times faster; of the 31.4 ms: 53.0 ms less compute, 21.6 ms
// more idle". All times have the same decimals, the difference is that of the two that are named,
// and the parts add up to it, both as they are written: each is rounded up or down by less than one
// of the last digit. The largest part comes first; parts that are nothing are left out. REQUIRES:
// `changes` has the whole, then parts that add up to it, in both runs.
std::string SentenceOf(std::span<const TimeChange> changes, std::string_view unit);

// The whole and its parts, `diff_time`, with that sentence as title. The mean of a part is rounded
// so that the parts add up to the whole. Without rows where a run has no time of a device.
Table StepChangeTable(const std::vector<DeviceTimeRow>& base,
                      const std::vector<DeviceTimeRow>& test, const RunUnits& units);

}  // namespace borescope::internal
